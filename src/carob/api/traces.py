"""Use-cases of recordings."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

from carob import plugins
from carob.api.cores import cores
from carob.api.datasets import save_carrying
from carob.api.load import PathName, as_list, load
from carob.datasets.formats import Format
from carob.datasets.masking import Masks, masked
from carob.datasets.read import open_golden
from carob.errors import CarobError, FormatError, InputError, UsageError
from carob.metrics import Need, unmet_need
from carob.runner.pairing import Pair
from carob.schema import CaptureReport, Case, Dataset, Problem, Trace, TraceEntry, TraceListing
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces import read
from carob.traces.capture import Capture, Status, Wanted
from carob.traces.sufficiency import sufficiency


def read_traces(
    *paths: PathName, report: ProblemListener = ignore, spans: bool = False
) -> Iterator[Trace]:
    """What an agent did, by recordings of any container and convention; several files are one
    input. With `spans` each trace keeps the spans that it was read from."""
    return read.read_traces([Path(path) for path in paths], report=report, keep_spans=spans)


def recorded(traces: Sequence[PathName], golden: PathName | None) -> Iterator[Trace]:
    """What a run was made from: traces, or else the recordings that the golden data carries."""
    if traces:
        return read_traces(*traces)
    cases = load(golden).cases if golden is not None else ()
    return (pair.trace for pair in recorded_pairs(cases))


def understand(
    paths: PathName | Iterable[PathName], *, progress: ProgressListener = ignore
) -> TraceListing:
    """What recordings say, and which metrics they can support."""
    files = [Path(path) for path in as_list(paths)]
    with expecting_recordings(files):
        return _understood(files, progress)


def _understood(paths: Sequence[Path], progress: ProgressListener) -> TraceListing:
    problems: list[Problem] = []
    needs = _needs()
    hints: dict[str, tuple[str, ...]] = {}
    found: list[TraceEntry] = []
    for trace in read.read_traces(paths, report=problems.append, jobs=cores(), progress=progress):
        enough = sufficiency(trace, needs, unmet_need)
        found.append(TraceEntry(trace=trace, supports=enough.supports))
        for reason, hint in enough.hints.items():
            known = hints.get(reason, ())
            hints[reason] = known if hint in known else (*known, hint)
    return TraceListing(traces=tuple(found), hints=hints, problems=tuple(problems))


def _needs() -> dict[str, tuple[Need, ...]]:
    return {name: metric.needs for name, metric in plugins.metrics().items()}


def capture(
    sources: PathName | Iterable[PathName],
    dst: PathName,
    *,
    to: str,
    agent: str | None = None,
    session: str | None = None,
    since: str | None = None,
    until: str | None = None,
    status: Status | None = None,
    mask: bool = False,
    progress: ProgressListener = ignore,
) -> CaptureReport:
    """Make golden cases of recordings, or of queries that were logged; with `mask`, without
    personal data and secrets. For the `simulation` table each recording is kept beside its case."""
    check_replaceable(Path(dst))
    wanted = Wanted(agent, session, _moment(since), _moment(until, end=True), status)
    taken = Capture(wanted, table=to == "simulation")
    recorded: list[Path] = []
    for path in map(Path, as_list(sources)):
        logged = _logged(path, taken.table)
        if logged is None:
            recorded.append(path)
        else:
            taken.add_cases(logged.cases)
    if recorded:
        found = read.read_traces(
            recorded,
            report=taken.problems.append,
            keep_spans=taken.table,
            jobs=cores(),
            progress=progress,
        )
        taken.add(found)
    if not taken.cases:
        raise UsageError("no recording became a case, so nothing was written", hint=taken.why())
    masks = Masks() if mask else None
    cases = [masked(case, masks) for case in taken.cases] if masks else taken.cases
    dataset = Dataset(name=Path(dst).name.partition(".")[0], cases=cases)
    losses = save_carrying(dataset, dst, format=to)
    return taken.captured(to, losses)


def _logged(path: Path, table: bool) -> Dataset | None:
    """Golden data that is a log: lists of queries, and for the table what ADK's eval recorded."""
    for name in ("test", "adk-history") if table else ("test",):
        try:
            return load(path, format=name)
        except FormatError:
            raise
        except InputError:  # not one of these; what it is the reader of traces will say
            continue
    return None


def _moment(text: str | None, *, end: bool = False) -> int | None:
    """Unix nanoseconds of an ISO 8601 time; as an end, a day includes all of itself."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no time", hint="such as 2026-03-01 or 2026-03-01T12:30:00Z"
        ) from None
    whole_day = timedelta(days=1) if end and len(text) == len("2026-03-01") else timedelta()
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) + whole_day
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


@contextmanager
def expecting_recordings(paths: Iterable[Path]) -> Generator[None]:
    """Whatever is wrong with recordings that are golden data: that is what is wrong with them."""
    try:
        yield
    except InputError as error:
        for path in paths:
            form = _format(path) if (error.where or "").startswith(str(path)) else None
            if form:
                raise InputError(
                    f"golden data ({form.name}), expected recordings",
                    where=str(path),
                    hint="`carob show` describes it, `carob run` takes it as --golden",
                ) from error
        raise


def check_replaceable(path: Path) -> None:
    """Refuse to write golden data over recordings: whoever names recordings as `traces/*` and no
    file to write names the last of them as that file."""
    if path.is_file() and path.stat().st_size:
        form = _format(path)
        if form is None or not form.writable:
            hint = "the last name is that of the file to write: give a new one"
            raise UsageError(f"{path} is there, and is no golden data to be replaced", hint=hint)


def _format(path: Path) -> Format | None:
    try:
        return open_golden(path, plugins.formats()).format
    except CarobError:
        return None


def recorded_pairs(cases: Iterable[Case]) -> Iterator[Pair]:
    """The cases that were recorded, with their recordings: these need no pairing."""
    # Most runs read traces, and start sooner without the reader of tables.
    simulation = import_module("carob.traces.containers.simulation")
    for case in cases:
        if case.recording:
            yield Pair(case, simulation.with_spans(case.recording), "the same row")
