"""Use-cases of golden data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from carob import plugins
from carob.api.load import PathName, as_list, find_release, format_name, is_reference, load
from carob.datasets import locate
from carob.datasets import validate as validation
from carob.datasets import write as writing
from carob.datasets.read import named, open_golden, read_cases
from carob.datasets.sidecar import Aside, read_aside
from carob.datasets.where import where as compile_where
from carob.errors import LossError, UsageError
from carob.schema import Conversion, Dataset, DatasetSummary, Loss, Validation


def save(dataset: Dataset, path: PathName, *, format: str | None = None) -> None:
    """Write golden data. Without a format, the one it was read in, or the one that the ending of
    the path is used for: `examples` for .json, `explain` for .jsonl, `csv` for .csv."""
    save_carrying(dataset, path, format=format)


def save_carrying(
    dataset: Dataset, path: PathName, *, format: str | None = None
) -> tuple[Loss, ...]:
    """The same; what the format has no place for is told."""
    target = _target(dataset, Path(path), format)
    prepared = writing.prepare(dataset, target, plugins.formats())
    writing.write(prepared)
    return prepared.losses


def convert(
    src: PathName,
    dst: PathName,
    *,
    to: str,
    format: str | None = None,
    drop: bool = False,
    strict: bool = False,
) -> Conversion:
    """Convert golden data. What the target has no place for is carried along for the way back,
    unless `drop`; with `strict` any such loss is an error and nothing is written."""
    target = writing.target(Path(dst), named(to, plugins.formats()))
    dataset = load(src, format=format)
    prepared = writing.prepare(dataset, target, plugins.formats())
    conversion = Conversion(
        source=format_name(dataset) or "",
        target=to,
        cases=len(dataset.cases),
        losses=prepared.losses,
        carried=not drop and not (strict and prepared.losses),
    )
    if strict and prepared.losses:
        raise LossError(
            f"{to} has no place for {len(prepared.losses)} fields; nothing was written",
            where=str(dst),
            conversion=conversion,
        )
    writing.write(prepared, carry=not drop)
    return conversion


def subset(
    src: PathName,
    dst: PathName,
    *,
    tags: str | Iterable[str] = (),
    where: str | None = None,
    format: str | None = None,
) -> Dataset:
    """Write the cases that carry every tag and that `where` holds for."""
    wanted = frozenset(as_list(tags))
    holds = compile_where(where) if where else None
    dataset = load(src, format=format)
    part = dataset.subset(lambda case: wanted <= {*case.tags} and (not holds or holds(case)))
    if not part.cases:
        raise _nothing_left(dataset)
    save(part, dst)
    return part


def validate(
    paths: PathName | Iterable[PathName],
    *,
    format: str | None = None,
    agents: Collection[str] | None = None,
    catalogue: PathName | None = None,
) -> tuple[Validation, ...]:
    """Name every problem of every file."""
    beside = Path(catalogue) if catalogue else None
    return tuple(
        validation.validate(
            Path(path), plugins.formats(), name=format, agents=agents, catalogue=beside
        )
        for path in as_list(paths)
    )


def summarise(path: PathName, *, format: str | None = None) -> DatasetSummary:
    """What a dataset is made of, counted without keeping its cases."""
    if is_reference(path):
        return load(path).summary()
    opened = open_golden(Path(path), plugins.formats(), format)
    head = opened.format.header(opened.container, opened.source.stem).get(opened.frame)
    return DatasetSummary.of(head.name, read_cases(opened, Aside()), version=head.version)


def json_schema(format: str) -> str:
    """The JSON Schema of a golden format, for editors."""
    from importlib import resources

    form = named(format, plugins.formats())
    file = resources.files("carob.datasets") / "schemas" / f"{form.name}.json"
    return file.read_text(encoding="utf-8")


_BY_ENDING = {".json": "examples", ".jsonl": "explain", ".csv": "csv"}


def _target(dataset: Dataset, path: Path, name: str | None) -> writing.Target:
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    usual = _BY_ENDING.get(ending)
    origin = format_name(dataset)
    if name is None and origin:
        form = named(origin, plugins.formats())
        if form.writable and _suits(form.containers, ending):
            name = origin
    if name is None and usual is None:
        raise UsageError(f"no format for a file {path.name!r}", hint="name one with `format`")
    return writing.target(path, named(name or usual or "", plugins.formats()))


def _suits(containers: tuple[str, ...], ending: str) -> bool:
    usual = {".json": "document", ".jsonl": "rows", ".csv": "table"}
    return usual.get(ending, containers[0]) in containers


def _nothing_left(dataset: Dataset) -> UsageError:
    summary = dataset.summary()
    tags = ", ".join(summary.tags) or "none"
    fields = ", ".join(f"metadata.{name}" for name in summary.metadata) or "none"
    return UsageError(
        f"none of the {summary.cases} cases is left, so nothing was written",
        hint=f"the tags are {tags}; the metadata fields are {fields}",
    )


def case_lines(golden: PathName) -> dict[str, tuple[str, int]]:
    """For the id of each case, the file and the line."""
    one = find_release(golden)
    path = one.file if one else Path(golden)
    opened = open_golden(path, plugins.formats(), one.record.format if one else None)
    document = opened.container == "document"
    ids = [case.id for case in read_cases(opened, Aside() if document else read_aside(path))]
    rows = list(opened.items())
    if not document:
        return {id: (str(path), row.line) for id, row in zip(ids, rows, strict=True)}
    members = [opened.member(index, row) for index, row in enumerate(rows)]
    lines = locate.lines(opened.source.data, members)
    return {id: (str(path), lines.get(name, 1)) for id, name in zip(ids, members, strict=True)}
