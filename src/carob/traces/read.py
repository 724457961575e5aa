"""Recordings of any container and convention → traces."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from carob.errors import CarobError, FormatError, UsageError
from carob.files.collector import collector_paused
from carob.schema import Problem, Trace
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces.containers.registry import add_container_finders, container_finders
from carob.traces.reading.collect import KEPT, Collected, Collector
from carob.traces.reading.spill import Spill
from carob.traces.reading.stream import Chunk, divided, whole
from carob.traces.reading.trace_set import Recordings, Shard, in_order

WORTH_DIVIDING = 64 << 20
"""Bytes from which on several processes are quicker than one."""
PART = 128 << 20
"""Bytes that a process reads before it tells what it found."""
_SHOWN = 5


def read_traces(
    paths: Sequence[Path],
    *,
    report: ProblemListener,
    keep_spans: bool = False,
    jobs: int = 1,
    progress: ProgressListener = ignore,
) -> Iterator[Trace]:
    """What the agent did in each session, by all files together, in the order of time."""
    with open_traces(
        paths, report=report, keep_spans=keep_spans, jobs=jobs, progress=progress
    ) as recordings:
        yield from recordings


def open_traces(
    paths: Sequence[Path],
    *,
    report: ProblemListener,
    keep_spans: bool = False,
    jobs: int = 1,
    progress: ProgressListener = ignore,
) -> Recordings:
    """Read all files as one input, with several processes if that is quicker.

    `progress` is told how many bytes of how many are read; what is packed is not counted.
    """
    if not paths:
        raise UsageError("no file to read")
    import tempfile

    chunks = whole(list(paths))
    folder = Path(tempfile.mkdtemp(prefix="carob-"))
    try:
        made = _parallel(chunks, folder, report, keep_spans, jobs, progress)
        if made is None:
            made = _sequential(chunks, folder, report, keep_spans, progress)
        _tell(made, chunks, report)
        return Recordings(in_order(made), folder)
    except BaseException:
        Recordings((), folder).close()
        raise


def shards(
    paths: Sequence[Path],
    jobs: int,
    *,
    report: ProblemListener = ignore,
    progress: ProgressListener = ignore,
) -> list[Shard]:
    """All sessions in lots that processes can read with `read_shard`, until this process ends."""
    recordings = open_traces(paths, report=report, jobs=jobs, progress=progress)
    atexit.register(recordings.close)
    return recordings.shards()


def read_shard(shard: Shard) -> Iterator[Trace]:
    """The traces of one lot."""
    return shard.traces()


def _sequential(
    chunks: Sequence[Chunk],
    folder: Path,
    report: ProblemListener,
    keep_spans: bool,
    progress: ProgressListener,
) -> Collected:
    paths = [chunk.path for chunk in chunks]
    spill, total = Spill(folder / "0"), _size(chunks)
    collector = Collector(paths, spill, report, keep_spans=keep_spans, kept=KEPT)
    collector.progress = lambda done: progress(done, total)
    with collector_paused():
        for chunk in chunks:
            collector.read(chunk)
        made = collector.finish()
        collector.settle()
    return made


def _size(chunks: Iterable[Chunk]) -> int:
    return sum((chunk.end or 0) - chunk.start for chunk in chunks)


def _parallel(
    chunks: Sequence[Chunk],
    folder: Path,
    report: ProblemListener,
    keep_spans: bool,
    jobs: int,
    progress: ProgressListener,
) -> Collected | None:
    """Each process reads its part; what is in several parts is read again. `None` if not worth it.

    A part with an error says nothing about the whole, so the whole is then read in one go.
    """
    parts = _parts(chunks, jobs)
    if len(parts) < 2:
        return None
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    paths = [chunk.path for chunk in chunks]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(parts)), context, add_container_finders, (container_finders(),)
    ) as pool:
        tasks = [
            pool.submit(_read_part, paths, part, folder / f"{number}", keep_spans)
            for number, part in enumerate(parts, 1)
        ]
        found: list[Collected] = []
        try:
            for task in tasks:
                found.append(task.result())
                progress(_size(parts[: len(found)]), _size(parts))
        except (CarobError, BrokenProcessPool):  # a script without a main guard breaks every pool
            pool.shutdown(cancel_futures=True)
            return None
    return _merged(found, paths, folder, report, keep_spans)


def _parts(chunks: Sequence[Chunk], jobs: int) -> list[Chunk]:
    if jobs < 2 or _size(chunks) < WORTH_DIVIDING:
        return []
    if any(chunk.end is None for chunk in chunks):
        return []
    share = min(_size(chunks) / jobs, PART)
    return [
        part for chunk in chunks for part in divided(chunk, max(1, round((chunk.end or 0) / share)))
    ]


def _read_part(paths: Sequence[str], chunk: Chunk, spill: Path, keep_spans: bool) -> Collected:
    problems: list[Problem] = []
    collector = Collector(paths, Spill(spill), problems.append, keep_spans=keep_spans, kept=0)
    with collector_paused():
        collector.read(chunk)
        made = collector.finish()
    made.problems = problems
    return made


def _merged(
    parts: Sequence[Collected],
    paths: Sequence[str],
    folder: Path,
    report: ProblemListener,
    keep_spans: bool,
) -> Collected:
    collector = Collector(paths, Spill(folder / "0"), report, keep_spans=keep_spans, kept=0)
    for part in parts:
        for problem in part.problems:
            report(problem)
        collector.made.join(part)
    collector.settle()
    return collector.made


def _tell(made: Collected, chunks: Sequence[Chunk], report: ProblemListener) -> None:
    """Say what was seen and is of no use; it is an error if nothing else was seen."""
    where = chunks[0].path if len(chunks) == 1 else f"{len(chunks)} files"
    hint = "read the file of the spans together with the file of the logs"
    for message, number in _without_spans(made).items():
        if number:
            report(Problem(where=where, message=message, hint=hint, severity="warning"))
    idle = sum(found.slot is None for found in made.spans.values())
    useful = len(made.spans) + len(made.told) - idle
    if idle or not useful:
        message, hint = _idle(made, idle)
        if not useful:
            raise FormatError(message, where=where, hint=hint)
        report(Problem(where=where, message=message, hint=hint, severity="note"))


def _without_spans(made: Collected) -> dict[str, int]:
    return {
        f"{made.lost} log records belong to no span that was read": made.lost,
        f"{made.bare} traces have log records but no spans": made.bare,
    }


def _idle(made: Collected, count: int) -> tuple[str, str]:
    if not made.spans:
        return (
            f"{made.lost} log records were read, but no span that they could belong to",
            "read the file of the spans together with the file of the logs",
        )
    often = sorted(made.idle, key=lambda name: (-made.idle[name], name))[:_SHOWN]
    names = ", ".join(repr(name) for name in often) or "none"
    noun = "trace" if count == 1 else "traces"
    return (
        f"no agent, model or tool was at work in {count} {noun}; the spans are {names}",
        "were the spans of the agent exported, too?",
    )
