"""Read traces, list what they support, and turn them into golden cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from carob import plugins
from carob.api.datasets import save_with_losses
from carob.api.golden.append import (
    join_cases,
    load_existing,
    overwrite_hint,
    select_new_cases,
    target_format,
)
from carob.api.load import PathName, as_list, format_name, load
from carob.api.running.sources import expecting_traces, golden_format, log_finders, trace_files
from carob.datasets.masking import Masks, mask_case
from carob.errors import FormatError, InputError, UsageError
from carob.files.lock import lock_folder
from carob.files.spool import Spool
from carob.files.timestamps import parse_time
from carob.metrics import Need, unmet_need
from carob.runner.workers import cpu_count
from carob.schema import CaptureReport, Case, Dataset, Problem, Trace, TraceEntry, TraceListing
from carob.schema.codec import CompactCodec
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces import read
from carob.traces.capture import Capture, Status, TraceFilter
from carob.traces.containers.registry import using_containers
from carob.traces.sufficiency import check_sufficiency

_ENTRIES = CompactCodec(TraceEntry)


def read_traces(
    *paths: PathName,
    report: ProblemListener = ignore,
    spans: bool = False,
    mapping: str | None = None,
) -> Iterator[Trace]:
    """Read traces of any container and convention. Several files are one input: the spans of a
    trace may be in all of them. With `spans` each trace keeps the spans it was read from. `mapping`
    names the fields of logs, such as `user=query,response=answer`."""
    with using_containers(log_finders(mapping)):
        files = trace_files(paths, report)
        yield from read.read_traces(files, report=report, keep_spans=spans)


def list_traces(
    paths: PathName | Iterable[PathName],
    *,
    mapping: str | None = None,
    progress: ProgressListener = ignore,
) -> TraceListing:
    """List what traces contain and which metrics they support. `mapping` names the fields of logs
    in rows, such as `user=query,response=answer,calls=steps[].tool`."""
    problems: list[Problem] = []
    with using_containers(log_finders(mapping)):
        files = trace_files(as_list(paths), problems.append, progress)
        with expecting_traces(files):
            return _list_traces(files, problems, progress)


def _list_traces(
    paths: Sequence[Path], problems: list[Problem], progress: ProgressListener
) -> TraceListing:
    needs = metric_needs()
    hints: dict[str, tuple[str, ...]] = {}
    entries = Spool(_ENTRIES)
    jobs = cpu_count()
    for trace in read.read_traces(paths, report=problems.append, jobs=jobs, progress=progress):
        enough = check_sufficiency(trace, needs, unmet_need)
        entries.append(TraceEntry(trace=trace, supports=enough.supports))
        for reason, hint in enough.hints.items():
            known = hints.get(reason, ())
            hints[reason] = known if hint in known else (*known, hint)
    return TraceListing(traces=entries.finish(), hints=hints, problems=tuple(problems))


def metric_needs() -> Mapping[str, tuple[Need, ...]]:
    """Return what each metric needs of a trace."""
    return _needs_of(tuple(plugins.metrics()))


@lru_cache(maxsize=4)
def _needs_of(names: tuple[str, ...]) -> Mapping[str, tuple[Need, ...]]:
    """Look metrics up once: a server describes many sessions, each by all metrics."""
    return {name: plugins.metrics()[name].needs for name in names}


def capture(
    sources: PathName | Iterable[PathName],
    dst: PathName,
    *,
    to: str | None = None,
    agent: str | None = None,
    session: str | None = None,
    since: str | None = None,
    until: str | None = None,
    status: Status | None = None,
    mask: bool = False,
    append: bool = False,
    force: bool = False,
    mapping: str | None = None,
    progress: ProgressListener = ignore,
) -> CaptureReport:
    """Turn traces or logged queries into golden cases. With `mask`, personal data and secrets are
    masked. In the `simulation` table each trace is stored with its case. An existing file that
    differs is only overwritten with `force`; with `append`, its cases are kept and come first, and
    its format is the default of `to`."""
    _check_replaceable(Path(dst))
    masks = Masks() if mask else None  # first, because it needs packages that may be missing
    # A file of another format is an error at once.
    to = target_format(to, Path(dst), load_existing(Path(dst)) if append else None)
    wanted = TraceFilter(agent, session, _nanoseconds(since), _nanoseconds(until, end=True), status)
    capture = Capture(wanted, table=to == "simulation")
    trace_paths: list[Path] = []
    for path in trace_files(as_list(sources), capture.problems.append, progress):
        queries = None if mapping else _load_queries(path, capture.table)
        if queries is None:
            trace_paths.append(path)
        else:
            capture.add_cases(queries.cases)
    if trace_paths:
        traces = read.read_traces(
            trace_paths,
            report=capture.problems.append,
            keep_spans=capture.table,
            jobs=cpu_count(),
            progress=progress,
        )
        with using_containers(log_finders(mapping)):
            capture.add(traces)
    cases = capture.finish()
    if not cases:
        raise UsageError(
            "no trace became a case; nothing was written", hint=capture.explain_empty()
        )
    if masks:
        cases = join_cases(mask_case(case, masks) for case in cases)
    with lock_folder(Path(dst).parent):  # another capture may have added cases meanwhile
        existing = load_existing(Path(dst)) if append else None
        to = target_format(to, Path(dst), existing)
        dataset = existing or Dataset(name=Path(dst).name.partition(".")[0])
        new = select_new_cases(dataset.cases, cases)
        capture.duplicates += [str(case.metadata.get("trace_id", case.id)) for case in new.known]
        losses = save_with_losses(
            dataset.with_cases(join_cases(dataset.cases, new.added)),
            dst,
            format=to,
            overwrite=force or existing is not None,
            hint=overwrite_hint(Path(dst), to),
        )
    return capture.to_report(to, len(new.added), losses)


def add_cases(cases: Sequence[Case], dst: Path, *, format: str | None = None) -> list[Case]:
    """Add cases to a golden file, which is created if missing. Returns those that it did not have,
    with the ids that they got."""
    _check_replaceable(dst)
    with lock_folder(dst.parent):
        existing = load_existing(dst)
        dataset = existing or Dataset(name=dst.name.partition(".")[0])
        form = format_name(dataset) or format
        if existing and format and form != format:
            raise UsageError(f"{dst.name} has the format {form}, cannot add {format}")
        added = [*select_new_cases(dataset.cases, cases).added]
        if added:
            dst.parent.mkdir(parents=True, exist_ok=True)
            save_with_losses(dataset.with_cases(join_cases(dataset.cases, added)), dst, format=form)
    return added


def _load_queries(path: Path, table: bool) -> Dataset | None:
    """Load a list of queries, or for the table the history of an ADK eval; else return `None`."""
    for name in ("test", "adk-history") if table else ("test",):
        try:
            return load(path, from_=name)
        except FormatError:
            raise
        except InputError:  # not one of these formats; the reader of traces has its own errors
            continue
    return None


def _nanoseconds(text: str | None, *, end: bool = False) -> int | None:
    """Return the Unix time of a time expression."""
    if text is None:
        return None
    # Integers: a float loses the last digits of nanoseconds.
    age = parse_time(text, end=end) - datetime(1970, 1, 1, tzinfo=UTC)
    return (age.days * 86_400 + age.seconds) * 10**9 + age.microseconds * 1000


def _check_replaceable(path: Path) -> None:
    """Refuse to write golden data over traces: `carob capture traces/*` without a file to write
    would take the last trace file for it."""
    if path.is_file() and path.stat().st_size:
        form = golden_format(path)
        if form is None or not form.writable:
            hint = "the last argument is the file to write; pass a new file name"
            raise UsageError(f"{path} already exists and is not golden data", hint=hint)
