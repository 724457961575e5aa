"""Golden data: save, convert, select, validate, summarise."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from carob import plugins
from carob.api.load import PathName, as_list, find_release, format_name, is_reference, load
from carob.api.selection import make_selection
from carob.datasets import locate
from carob.datasets import validate as validation
from carob.datasets import write as writing
from carob.datasets.read import get_format, open_golden, read_cases
from carob.datasets.select import select_cases
from carob.datasets.sidecar import Sidecar, read_sidecar
from carob.errors import LossError, UsageError
from carob.schema import Conversion, Dataset, DatasetSummary, Loss, Validation

_DEFAULT_FORMATS = {".json": "examples", ".jsonl": "explain", ".csv": "csv"}
_CONTAINERS = {".json": "document", ".jsonl": "rows", ".csv": "table"}


def save(dataset: Dataset, path: PathName, *, format: str | None = None) -> None:
    """Write golden data. The default format is the one the dataset was read from, or the one of
    the file extension: `examples` for .json, `explain` for .jsonl, `csv` for .csv. An existing
    file is replaced, and missing folders are created."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    save_with_losses(dataset, path, format=format)


def save_with_losses(
    dataset: Dataset,
    path: PathName,
    *,
    format: str | None = None,
    overwrite: bool = True,
    hint: str = "pass --force to overwrite",
) -> tuple[Loss, ...]:
    """Write golden data and return the fields that have no equivalent in the format. Without
    `overwrite`, raises `UsageError` with the hint if the file exists and differs."""
    destination = _choose_destination(dataset, Path(path), format)
    prepared = writing.prepare_dataset(dataset, destination, plugins.formats())
    writing.write_dataset(prepared, overwrite=overwrite, hint=hint)
    return prepared.losses


def convert(
    src: PathName,
    dst: PathName,
    *,
    to: str,
    format: str | None = None,
    drop: bool = False,
    strict: bool = False,
    force: bool = False,
) -> Conversion:
    """Convert golden data. Fields without an equivalent are preserved for round-tripping unless
    `drop`; with `strict` they are an error and nothing is written. An existing file that differs
    is only overwritten with `force`."""
    destination = writing.choose_destination(Path(dst), get_format(to, plugins.formats()))
    dataset = load(src, format=format)
    prepared = writing.prepare_dataset(dataset, destination, plugins.formats())
    conversion = Conversion(
        source=format_name(dataset) or "",
        target=to,
        cases=len(dataset.cases),
        losses=prepared.losses,
        carried=not drop and not (strict and prepared.losses),
    )
    if strict and prepared.losses:
        raise LossError(
            f"{len(prepared.losses)} fields have no equivalent in {to}; nothing was written",
            where=str(dst),
            conversion=conversion,
        )
    writing.write_dataset(prepared, carry=not drop, overwrite=force)
    return conversion


def subset(
    src: PathName,
    dst: PathName,
    *,
    tags: str | Iterable[str] = (),
    where: str | None = None,
    cases: str | Iterable[str] = (),
    limit: int | None = None,
    format: str | None = None,
    force: bool = False,
) -> Dataset:
    """Write the cases that have all tags, match `where` and are among `cases`, at most `limit`. An
    existing file that differs is only overwritten with `force`."""
    selection = make_selection(tags, where, cases, limit)
    part = select_cases(load(src, format=format), selection)
    save_with_losses(part, dst, overwrite=force)
    return part


def validate(
    paths: PathName | Iterable[PathName],
    *,
    format: str | None = None,
    agents: Collection[str] | None = None,
    catalogue: PathName | None = None,
    config: PathName | None = None,
) -> tuple[Validation, ...]:
    """List every problem of every file. Cases may name the built-in profiles and those of the
    config, by default the `carob.toml` of the working directory."""
    catalog = Path(catalogue) if catalogue else None
    profiles = _profile_names(Path(config) if config else None)
    return tuple(
        validation.validate(
            Path(path),
            plugins.formats(),
            name=format,
            agents=agents,
            catalogue=catalog,
            profiles=profiles,
        )
        for path in as_list(paths)
    )


def _profile_names(config: Path | None) -> frozenset[str]:
    # Late: only validation needs them.
    from carob.config import find_config, load_config
    from carob.policy.profile import builtin_profiles, load_profiles

    file = config or find_config(Path.cwd())
    own = load_profiles(load_config(file).profiles) if file else {}
    return frozenset({*own, *builtin_profiles()})


def summarise(path: PathName, *, format: str | None = None) -> DatasetSummary:
    """Summarise a dataset without holding its cases in memory."""
    if is_reference(path):
        return load(path).summary()
    opened = open_golden(Path(path), plugins.formats(), format)
    header = opened.format.header(opened.container, opened.source.stem).get(opened.frame)
    return DatasetSummary.of(header.name, read_cases(opened, Sidecar()), version=header.version)


def json_schema(format: str) -> str:
    """Return the JSON Schema of a golden format, for editors."""
    from importlib import resources  # late: slow to import, and only this needs it

    form = get_format(format, plugins.formats())
    file = resources.files("carob.datasets") / "schemas" / f"{form.name}.json"
    return file.read_text(encoding="utf-8")


def case_lines(golden: PathName) -> dict[str, tuple[str, int]]:
    """Return the file and line of each case, by id."""
    release = find_release(golden)
    path = release.file if release else Path(golden)
    opened = open_golden(path, plugins.formats(), release.record.format if release else None)
    is_document = opened.container == "document"
    sidecar = Sidecar() if is_document else read_sidecar(path)
    ids = [case.id for case in read_cases(opened, sidecar)]
    rows = list(opened.items())
    if not is_document:
        return {id: (str(path), row.line) for id, row in zip(ids, rows, strict=True)}
    members = [opened.item_path(index, row) for index, row in enumerate(rows)]
    lines = locate.find_lines(opened.source.data, members)
    return {id: (str(path), lines.get(name, 1)) for id, name in zip(ids, members, strict=True)}


def _choose_destination(dataset: Dataset, path: Path, name: str | None) -> writing.Destination:
    extension = Path(path.name.removesuffix(".gz")).suffix.lower()
    default = _DEFAULT_FORMATS.get(extension)
    origin = format_name(dataset)
    if name is None and origin:
        form = get_format(origin, plugins.formats())
        container = _CONTAINERS.get(extension, form.containers[0])
        if form.writable and container in form.containers:
            name = origin
    if name is None and default is None:
        raise UsageError(f"no default format for {path.name!r}", hint="pass `format`")
    return writing.choose_destination(path, get_format(name or default or "", plugins.formats()))
