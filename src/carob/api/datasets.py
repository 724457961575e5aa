"""Golden data: save, convert, select, validate, summarise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from carob.api.clock import timestamp
from carob.api.golden.append import (
    join_cases,
    load_existing,
    overwrite_hint,
    select_new_cases,
    target_format,
)
from carob.api.load import (
    PathName,
    check_one_dataset,
    dataset_files,
    file_listeners,
    find_release,
    format_name,
    golden_formats,
    is_reference,
    load,
    load_streamed,
)
from carob.api.running.selection import make_selection
from carob.datasets import validate as validation
from carob.datasets import write as writing
from carob.datasets.formats.examples import DEFAULT_VERSION
from carob.datasets.read import get_format, open_golden, read_cases
from carob.datasets.select import select_cases
from carob.datasets.sidecar import Sidecar, read_sidecar
from carob.errors import CarobError, LossError, UsageError
from carob.files.lock import lock_folder
from carob.schema import Conversion, Dataset, DatasetSummary, Loss, Problem, Validation
from carob.schema.dataset import FormatInfo
from carob.schema.problem import ProblemListener, ProgressListener, ignore

_DEFAULT_FORMATS = {"document": "examples", "rows": "explain", "table": "csv"}
"""By the container that the suffix of a file stands for."""


def save(dataset: Dataset, path: PathName, *, format: str | None = None) -> None:
    """Write golden data. The default format is the one the dataset was read from, or the one of
    the file extension: `examples` for .json, `explain` for .jsonl, `csv` for .csv. An existing
    file is replaced, and missing folders are created. A new dataset in the format `examples` gets
    the version 1.0.0 and the current time unless it states others."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    destination = _choose_destination(dataset, Path(path), format)
    form = destination.format.name
    if dataset.origin is None and form == "examples" and destination.container == "document":
        dataset = msgspec.structs.replace(
            dataset,
            version=dataset.version or DEFAULT_VERSION,
            created_at=dataset.created_at or timestamp(),
        )
    save_with_losses(dataset, path, format=form)


def save_with_losses(
    dataset: Dataset,
    path: PathName,
    *,
    format: str | None = None,
    overwrite: bool = True,
    hint: str = "pass --force to overwrite",
) -> Sequence[Loss]:
    """Write golden data and return the fields that have no equivalent in the format. Without
    `overwrite`, raises `UsageError` with the hint if the file exists and differs."""
    destination = _choose_destination(dataset, Path(path), format)
    prepared = writing.prepare_dataset(dataset, destination, golden_formats())
    writing.write_dataset(prepared, overwrite=overwrite, hint=hint)
    return prepared.losses


def convert(
    src: PathName,
    dst: PathName,
    *,
    to: str | None = None,
    from_: str | None = None,
    drop: bool = False,
    strict: bool = False,
    append: bool = False,
    force: bool = False,
    reading: ProgressListener = ignore,
    progress: ProgressListener = ignore,
) -> Conversion:
    """Convert golden data. Fields without an equivalent are preserved for round-tripping unless
    `drop`; with `strict` they are an error and nothing is written. An existing file that differs
    is only overwritten with `force`; with `append`, its cases are kept and come first, and its
    format is the default of `to`. `reading` receives the bytes read, `progress` the cases
    converted."""
    if append and drop:
        # Dropping would also drop what the existing cases preserve.
        raise UsageError("`append` and `drop` cannot be combined")
    # Others may add cases to the same file meanwhile.
    with lock_folder(Path(dst).parent) if append else nullcontext():
        existing = load_existing(Path(dst)) if append else None
        form = get_format(target_format(to, Path(dst), existing), golden_formats())
        writing.choose_destination(Path(dst), form)  # report a wrong one before reading anything
        dataset = load_streamed(src, from_=from_, progress=reading)
        source = format_name(dataset) or ""
        if source == form.name:
            # Converting a list to its own format makes a document of it: that is no loss.
            dataset = _forget_list(dataset)
        new = select_new_cases(existing.cases if existing else (), dataset.cases)
        if existing:
            dataset = existing.with_cases(join_cases(existing.cases, new.added))
        destination = writing.choose_destination(Path(dst), form, dataset)
        prepared = writing.prepare_dataset(dataset, destination, golden_formats(), progress)
        known = {case.id for case in existing.cases} if existing else set[str]()
        losses = _new_losses(prepared.losses, existing, known)
        conversion = Conversion(
            source=source,
            target=form.name,
            cases=len(prepared.cases) - len(known),
            omitted=tuple(_new_losses(prepared.omitted, existing, known)),
            losses=losses,
            carried=not drop and not (strict and losses),
            notes=_conversion_notes(src, from_),
            duplicates=tuple(case.id for case in new.known),
        )
        if strict and losses:
            raise LossError(
                f"{len(losses)} fields have no equivalent in {form.name}; nothing was written",
                where=str(dst),
                conversion=conversion,
            )
        hint = overwrite_hint(Path(dst), form.name)
        overwrite = force or existing is not None
        writing.write_dataset(prepared, carry=not drop, overwrite=overwrite, hint=hint)
    return conversion


def _new_losses(
    losses: Sequence[Loss], existing: Dataset | None, known: Collection[str]
) -> Sequence[Loss]:
    """Return the losses of the new cases: what an existing file preserves is not lost now."""
    if existing is None:
        return losses
    return tuple(loss for loss in losses if loss.case is not None and loss.case not in known)


def _forget_list(dataset: Dataset) -> Dataset:
    is_list = dataset.origin is not None and dataset.origin.format.endswith(".list")
    return msgspec.structs.replace(dataset, origin=None) if is_list else dataset


def _conversion_notes(src: PathName, from_: str | None) -> tuple[str, ...]:
    """What a conversion leaves behind that is not a field: other sheets, and comments in YAML."""
    if writing.path_suffix(Path(src)) not in (*writing.YAML, *writing.EXCEL):
        return ()
    source = open_golden(Path(src), golden_formats(), from_).source
    return tuple(note.message for note in source.notes())


def subset(
    src: PathName,
    dst: PathName,
    *,
    tags: str | Iterable[str] = (),
    where: str | None = None,
    cases: str | Iterable[str] = (),
    limit: int | None = None,
    from_: str | None = None,
    force: bool = False,
    progress: ProgressListener = ignore,
) -> Dataset:
    """Write the cases that have all tags, match `where` and are among `cases`, at most `limit`. An
    existing file that differs is only overwritten with `force`."""
    selection = make_selection(tags, where, cases, limit)
    part = select_cases(load_streamed(src, from_=from_, progress=progress), selection)
    save_with_losses(part, dst, overwrite=force)
    return part


def validate(
    paths: PathName | Iterable[PathName],
    *,
    from_: str | None = None,
    agents: Collection[str] | None = None,
    catalogue: PathName | None = None,
    config: PathName | None = None,
    report: ProblemListener = ignore,
    progress: ProgressListener = ignore,
) -> tuple[Validation, ...]:
    """List every problem of every file, or of the golden files of a folder; `report` receives those
    that are skipped there, `progress` the bytes that were checked. Cases may name the built-in
    profiles and those of the config, by default the `carob.toml` of the working directory."""
    catalog = Path(catalogue) if catalogue else None
    profiles = _profile_names(Path(config) if config else None)
    files = dataset_files(paths, report)
    return tuple(
        validation.validate(
            path,
            golden_formats(Path(config) if config else None),
            name=from_,
            agents=agents,
            catalogue=catalog,
            profiles=profiles,
            progress=listener,
        )
        for path, listener in zip(files, file_listeners(files, progress), strict=True)
    )


def _profile_names(config: Path | None) -> frozenset[str]:
    # Late: only validation needs them.
    from carob.config import find_config, load_config
    from carob.policy.profile import builtin_profiles, load_profiles

    file = config or find_config(Path.cwd())
    own = load_profiles(load_config(file).profiles) if file else {}
    return frozenset({*own, *builtin_profiles()})


def summarise(
    path: PathName, *, from_: str | None = None, progress: ProgressListener = ignore
) -> DatasetSummary:
    """Summarise a dataset without holding its cases in memory."""
    check_one_dataset(path)
    if is_reference(path):
        return load(path).summary()
    opened = open_golden(Path(path), golden_formats(), from_, progress=progress)
    header = opened.format.header(opened.container, opened.source.stem).get(opened.frame)
    return DatasetSummary.of(header, read_cases(opened, Sidecar()))


def summarise_files(
    paths: PathName | Iterable[PathName],
    *,
    from_: str | None = None,
    report: ProblemListener = ignore,
    progress: ProgressListener = ignore,
) -> list[DatasetSummary]:
    """Summarise every file, or the golden files of a folder; `report` receives those that are
    skipped there. A single file that cannot be read raises its error; among several, it is
    reported, so that the others are shown."""
    files = dataset_files(paths, report)
    if len(files) == 1:
        return [summarise(files[0], from_=from_, progress=progress)]
    summaries: list[DatasetSummary] = []
    for file, listener in zip(files, file_listeners(files, progress), strict=True):
        try:
            summaries.append(summarise(file, from_=from_, progress=listener))
        except CarobError as error:
            where = error.where or str(file)
            report(Problem(where=where, message=error.message, hint=error.hint))
    return summaries


def list_formats() -> tuple[FormatInfo, ...]:
    """List the golden formats, built-ins first."""
    return tuple(
        FormatInfo(form.name, form.containers, form.writable, form.recognized_by)
        for form in golden_formats()
    )


def json_schema(format: str) -> str:
    """Return the JSON Schema of a golden format, for editors."""
    from importlib import resources  # late: slow to import, and only this needs it

    form = get_format(format, golden_formats())
    file = resources.files("carob.datasets") / "schemas" / f"{form.name.partition(':')[0]}.json"
    return file.read_text(encoding="utf-8")


def case_lines(golden: PathName, *, config: Path | None = None) -> dict[str, tuple[str, int]]:
    """Return the file and line of each case, by id."""
    release = find_release(golden)
    path = release.file if release else Path(golden)
    opened = open_golden(path, golden_formats(config), release.record.format if release else None)
    sidecar = Sidecar() if opened.container == "document" else read_sidecar(path)
    cases = zip(read_cases(opened, sidecar), opened.items(), strict=True)
    file, listed = str(path), opened.source.listed
    if listed or not opened.has_paths:
        starts = listed.lines if listed else ()
        return {
            case.id: (file, starts[index] if starts else row.line)
            for index, (case, row) in enumerate(cases)
        }
    members = {case.id: opened.item_path(index, row) for index, (case, row) in enumerate(cases)}
    lines = opened.source.find_lines({*members.values()})
    return {id: (file, lines.get(name, 1)) for id, name in members.items()}


def _choose_destination(dataset: Dataset, path: Path, name: str | None) -> writing.Destination:
    containers = writing.containers_for(path)
    origin = format_name(dataset)
    if name is None and origin:
        form = get_format(origin, golden_formats())
        if form.writable and (not containers or {*containers} & {*form.containers}):
            name = origin
    if name is None and not containers:
        raise UsageError(f"no default format for {path.name!r}", hint="pass `format`")
    form = get_format(name or _DEFAULT_FORMATS[containers[0]], golden_formats())
    return writing.choose_destination(path, form, dataset)
