"""Use-cases of recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from carob import plugins
from carob.api.cores import cores
from carob.api.golden import save_carrying
from carob.api.loading import PathName, load, several
from carob.api.mistaken import check_replaceable, expecting_recordings
from carob.api.rows import rows
from carob.datasets.masking import Masks, masked
from carob.errors import FormatError, InputError, UsageError
from carob.metrics import Need, lacks
from carob.schema import Captured, Dataset, Problem, Trace, Understanding, Understood
from carob.schema.listeners import Progress, Report, nobody
from carob.traces import read
from carob.traces.capture import Capture, Status, Wanted
from carob.traces.sufficiency import sufficiency


def read_traces(*paths: PathName, report: Report = nobody, spans: bool = False) -> Iterator[Trace]:
    """What an agent did, by recordings of any container and convention; several files are one
    input. With `spans` each trace keeps the spans that it was read from."""
    return read.read_traces([Path(path) for path in paths], report=report, keep_spans=spans)


def recorded(traces: Sequence[PathName], golden: PathName | None) -> Iterator[Trace]:
    """What a run was made from: traces, or else the recordings that the golden data carries."""
    if traces:
        return read_traces(*traces)
    cases = load(golden).cases if golden is not None else ()
    return (pair.trace for pair in rows(cases))


def understand(
    paths: PathName | Iterable[PathName], *, progress: Progress = nobody
) -> Understanding:
    """What recordings say, and which metrics they can support."""
    files = [Path(path) for path in several(paths)]
    with expecting_recordings(files):
        return _understood(files, progress)


def _understood(paths: Sequence[Path], progress: Progress) -> Understanding:
    problems: list[Problem] = []
    needs = _needs()
    hints: dict[str, tuple[str, ...]] = {}
    found: list[Understood] = []
    for trace in read.read_traces(paths, report=problems.append, jobs=cores(), progress=progress):
        enough = sufficiency(trace, needs, lacks)
        found.append(Understood(trace=trace, supports=enough.supports))
        for reason, hint in enough.hints.items():
            known = hints.get(reason, ())
            hints[reason] = known if hint in known else (*known, hint)
    return Understanding(traces=tuple(found), hints=hints, problems=tuple(problems))


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
    progress: Progress = nobody,
) -> Captured:
    """Make golden cases of recordings, or of queries that were logged; with `mask`, without
    personal data and secrets. For the `simulation` table each recording is kept beside its case."""
    check_replaceable(Path(dst))
    wanted = Wanted(agent, session, _moment(since), _moment(until, end=True), status)
    taken = Capture(wanted, table=to == "simulation")
    recorded: list[Path] = []
    for path in map(Path, several(sources)):
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
