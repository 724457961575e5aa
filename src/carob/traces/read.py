"""Read traces of any container and convention."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from carob.errors import CarobError, FormatError, UsageError
from carob.files.collector import collector_paused
from carob.files.scratch import ScratchFolder
from carob.processes import NoWorkersError, WorkerPool
from carob.schema import Problem, Trace
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces.containers.registry import (
    ContainerFinder,
    add_container_finders,
    container_finders,
)
from carob.traces.conventions.hints import how_to_record
from carob.traces.conventions.registry import (
    ConventionFinder,
    add_convention_finders,
    convention_finders,
)
from carob.traces.reading.collect import MAX_IN_MEMORY, Collector
from carob.traces.reading.collection import Collection
from carob.traces.reading.spill import Spill
from carob.traces.reading.stream import Chunk, RecordStream, divide, whole_files
from carob.traces.reading.trace_set import Shard, TraceSet, group_sessions
from carob.traces.reading.trace_table import TraceTable

PARALLEL_SIZE = 64 << 20
"""Bytes of input from which several processes are faster than one."""
PART_SIZE = 32 << 20
"""Bytes that a worker reads before it returns its traces."""
_SHOWN_NAMES = 5
_READ_BOTH = "read the file with the spans together with the file with the logs"


def read_traces(
    paths: Sequence[Path],
    *,
    report: ProblemListener,
    keep_spans: bool = False,
    jobs: int = 1,
    progress: ProgressListener = ignore,
) -> Iterator[Trace]:
    """One trace per session, from all files together, in order of time."""
    with open_traces(
        paths, report=report, keep_spans=keep_spans, jobs=jobs, progress=progress
    ) as traces:
        yield from traces


def open_traces(
    paths: Sequence[Path],
    *,
    report: ProblemListener,
    keep_spans: bool = False,
    jobs: int = 1,
    progress: ProgressListener = ignore,
) -> TraceSet:
    """Read all files as one input, in several processes if the input is large.

    `progress` is called with the bytes read and the total; compressed files are not counted.
    """
    if not paths:
        raise UsageError("no file to read")
    return open_chunks(
        whole_files(list(paths)), report=report, keep_spans=keep_spans, jobs=jobs, progress=progress
    )


def open_chunks(
    chunks: Sequence[Chunk],
    *,
    report: ProblemListener,
    keep_spans: bool = False,
    jobs: int = 1,
    progress: ProgressListener = ignore,
) -> TraceSet:
    """Read files, or ranges of them, as one input."""
    folder = ScratchFolder()
    try:
        collection = _read_parallel(chunks, folder, report, keep_spans, jobs, progress)
        if collection is None:
            collection = collect_chunks(chunks, folder, report, keep_spans, progress)
        report_unused(collection, chunks, report)
        return TraceSet(group_sessions(collection), folder)
    except BaseException:
        folder.remove()
        raise


def recognize_file(path: Path) -> None:
    """Raise `UnknownFormatError` if no container claims anything in a file."""
    for chunk in whole_files([path]):
        for batch in RecordStream(chunk, ignore).batches():
            for _ in batch:
                return


def read_shard(shard: Shard) -> Iterator[Trace]:
    """The traces of one shard."""
    return shard.traces()


def collect_chunks(
    chunks: Sequence[Chunk],
    folder: ScratchFolder,
    report: ProblemListener,
    keep_spans: bool,
    progress: ProgressListener,
) -> Collection:
    """Read chunks one after the other."""
    spill, total = Spill(lambda: folder.path / "0"), _total_size(chunks)
    collector = Collector(
        chunks,
        spill,
        report,
        keep_spans=keep_spans,
        max_in_memory=MAX_IN_MEMORY,
        spans=TraceTable(lambda: folder.path / "traces"),
    )
    collector.progress = lambda done: progress(done, total)
    with collector_paused():
        for chunk in chunks:
            collector.read(chunk)
        collection = collector.finish()
        collector.settle()
    return collection


def _total_size(chunks: Iterable[Chunk]) -> int:
    return sum((chunk.end or 0) - chunk.start for chunk in chunks)


def _start_worker(
    containers: Sequence[ContainerFinder], conventions: Sequence[ConventionFinder]
) -> None:
    add_container_finders(containers)
    add_convention_finders(conventions)


def _read_parallel(
    chunks: Sequence[Chunk],
    folder: ScratchFolder,
    report: ProblemListener,
    keep_spans: bool,
    jobs: int,
    progress: ProgressListener,
) -> Collection | None:
    """Each process reads its part; traces that span parts are read again. `None` if not possible.

    An error in one part says nothing about the whole: a part may hold no span at all, or begin
    inside a value. The input is then read again by one process.
    """
    parts = _divide_all(chunks, jobs)
    if len(parts) < 2:
        return None
    finders = (container_finders(), convention_finders())
    merged = Collector(
        chunks,
        Spill(lambda: folder.path / "0"),
        report,
        keep_spans=keep_spans,
        max_in_memory=0,
        spans=TraceTable(lambda: folder.path / "merged"),
    )
    problems: list[Problem] = []
    try:
        with WorkerPool(min(jobs, len(parts)), _start_worker, *finders) as pool:
            tasks = [
                pool.submit(_read_part, chunks, part, folder.path / f"{number}", keep_spans)
                for number, part in enumerate(parts, 1)
            ]
            tasks.reverse()  # merged in the order of the input, whichever part is read first
            while tasks:  # each part is merged and forgotten, so that memory does not grow
                part = pool.result(tasks.pop())
                problems += part.problems
                merged.collection.merge(part)
                done = len(parts) - len(tasks)
                progress(_total_size(parts[:done]), _total_size(parts))
    except (CarobError, NoWorkersError):
        return None
    for problem in problems:
        report(problem)
    merged.settle()
    return merged.collection


def _divide_all(chunks: Sequence[Chunk], jobs: int) -> list[Chunk]:
    total = _total_size(chunks)
    if jobs < 2 or total < PARALLEL_SIZE or any(chunk.end is None for chunk in chunks):
        return []
    # As many equal shares for each worker, so that none is idle at the end. Those of a large input
    # fit into its memory.
    rounds = math.ceil(total / (jobs * PART_SIZE))
    share = total / (jobs * rounds)
    return [
        part for chunk in chunks for part in divide(chunk, max(1, round((chunk.end or 0) / share)))
    ]


def _read_part(files: Sequence[Chunk], chunk: Chunk, spill: Path, keep_spans: bool) -> Collection:
    problems: list[Problem] = []
    collector = Collector(
        files, Spill(lambda: spill), problems.append, keep_spans=keep_spans, max_in_memory=0
    )
    with collector_paused():
        collector.read(chunk)
        collection = collector.finish()
    collection.problems = problems
    return collection


def report_unused(collection: Collection, chunks: Sequence[Chunk], report: ProblemListener) -> None:
    """Report logs without spans and traces without an agent. Raises if there is nothing else."""
    where = chunks[0].path if len(chunks) == 1 else f"{len(chunks)} files"
    for message, number in _count_logs(collection).items():
        if number:
            report(Problem(where=where, message=message, hint=_READ_BOTH, severity="warning"))
    if collection.untraced_spans:
        _report_untraced(collection, where, report)
    _report_blank(collection, where, report)
    idle = sum(not trace.is_used for trace in collection.silent())
    useful = len(collection.spans) + len(collection.ready_traces) - idle
    if idle or not useful:
        message, hint = _describe_idle(collection, idle)
        if not useful:
            raise FormatError(message, where=where, hint=hint)
        report(Problem(where=where, message=message, hint=hint, severity="note"))


def _report_untraced(collection: Collection, where: str, report: ProblemListener) -> None:
    message = f"{collection.untraced_spans} spans have no trace id and were left out"
    hint = "export spans with their trace ids; without them, runs cannot be told apart"
    if not collection.spans and not collection.ready_traces:
        raise FormatError(message, where=where, hint=hint)
    report(Problem(where=where, message=message, hint=hint, severity="warning"))


def _report_blank(collection: Collection, where: str, report: ProblemListener) -> None:
    """Report traces in which nothing was said or done. Raises if no trace has a turn.

    Here, where reading ends, and not in each container or convention: whatever was misread or left
    out on the way, a trace that says nothing is never a success without a reason.
    """
    blank: dict[str, list[str]] = {}
    for trace in collection.silent():
        if trace.blank is not None:
            blank.setdefault(trace.blank, []).append(trace.id)
    for convention, ids in sorted(blank.items()):
        hint = how_to_record(convention, "response") or "check that the agent's content is recorded"
        message = f"no text, tool call, error or token count in {_count_traces(ids)}"
        problem = Problem(where=where, message=message, hint=hint, severity="warning")
        if not collection.has_turns():
            raise FormatError(problem.message, where=where, hint=hint)
        report(problem)


def _count_traces(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in sorted(ids)[:_SHOWN_NAMES])
    noun = "trace" if len(ids) == 1 else "traces"
    return f"{len(ids)} {noun}: {shown}{', …' if len(ids) > _SHOWN_NAMES else ''}"


def _count_logs(collection: Collection) -> dict[str, int]:
    orphans, log_only = collection.orphan_logs, collection.log_only_traces
    return {
        f"{orphans} log records belong to no span that was read": orphans,
        f"{log_only} traces have log records but no spans": log_only,
    }


def _describe_idle(collection: Collection, count: int) -> tuple[str, str]:
    if not collection.spans:
        return f"{collection.orphan_logs} log records, but none of their spans", _READ_BOTH
    noun = "trace" if count == 1 else "traces"
    shown = _most_frequent(collection.idle_names) or "none"
    message = f"no agent, model or tool spans in {count} {noun}; span names: {shown}"
    if keys := _most_frequent(collection.idle_keys):
        hint = f"the convention of these attributes is unknown: {keys}; if they are not the agent's"
        return message, f"{hint}, export its own spans"
    return message, "check that the agent's own spans were exported"


def _most_frequent(counts: dict[str, int]) -> str:
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:_SHOWN_NAMES]
    return ", ".join(map(repr, frequent))
