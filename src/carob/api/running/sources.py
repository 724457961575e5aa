"""Where the traces of a run come from: trace files, or golden data that carries traces."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from carob.api.load import PathName, configured_mapping, golden_formats
from carob.datasets.formats import Format
from carob.datasets.read import describe_input, open_golden
from carob.errors import CarobError, InputError, UnknownFormatError, UsageError
from carob.files.folders import files_in
from carob.files.remote import CopiedFile, fetch_files, is_address
from carob.files.spool import SpooledSequence
from carob.runner.job import Batch
from carob.runner.pairing import Pair
from carob.runner.workers import cpu_count
from carob.schema import Case, Dataset, Problem, Trace
from carob.schema.field_map import LOG_FIELDS, parse_field_map, select_fields
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces.containers.registry import ContainerFinder, using_containers
from carob.traces.read import open_chunks, open_traces, read_shard, recognize_file
from carob.traces.reading.stream import Chunk
from carob.traces.reading.trace_set import Shard, TraceSet

_ROWS_PER_BATCH = 500
_SESSION_FILES = (".json", ".jsonl", ".eval")
_NOTE_FILES = (".meta.json",)
"""What Claude Code notes about the sessions of sub-agents."""
_TRACE_WORDS = re.compile(
    r"is not a supported|'(?:spans|traceId|sessionId|(?:trace|span|run|session|conversation)_id"
    r"|run_type|trials|timestamp|ts|(?:latency|duration|elapsed)(?:_\w+)?|tool_calls)'"
)
"""Keys, as an error quotes them, that only traces and logs have."""
_VAGUE = frozenset(("rows", "langsmith"))
"""Golden formats that claim nearly any table, and any object with inputs and outputs."""
_PROBED_SIZE = 2**20
"""Bytes from which a file of a folder is taken for traces: recognizing it means decoding it."""
_START = 100
_OWN_REPORT = re.compile(rb'\{\s*"schema":\s*"carob\.(run|comparison|gate)/')
_SMALL_INPUT = 16 * 2**20
"""Bytes of traces that are not worth starting worker processes for."""


class FileState(NamedTuple):
    """Identifies the content of a file without reading it."""

    path: str
    size: int = 0
    modified: int | str = 0
    """A time, or what the object storage says instead."""

    @classmethod
    def of(cls, path: Path) -> FileState:
        """Return the state of a file; of a missing file only its path, because the reader of
        traces has the better error message for it."""
        if isinstance(path, CopiedFile) and path.remote:
            return cls(path.remote.address, path.remote.size, path.remote.version)
        try:
            status = path.stat()
        except OSError:
            return cls(str(path))
        return cls(str(path.resolve()), status.st_size, status.st_mtime_ns)


def trace_files(
    paths: Iterable[PathName],
    report: ProblemListener | None = None,
    progress: ProgressListener = ignore,
) -> list[Path]:
    """Return the files, with those of a folder in its place, such as `.adk/eval_history`. Files in
    object storage are copied, and `progress` receives the bytes of them.

    With `report`, files of a folder that have no traces are left out and reported.
    """
    files: list[Path] = []
    for name in paths:
        path = Path(name)
        if is_address(name):
            copies = fetch_files(str(name), progress)
            several = report is not None and len(copies) > 1
            files.extend(_skip_unknown_files(copies, report) if several and report else copies)
        elif path.is_dir():
            members = _files_of_folder(path)
            files.extend(members if report is None else _skip_unknown_files(members, report))
        else:
            files.append(path)
    return files


def shard_sources(paths: Iterable[PathName]) -> list[Path | str]:
    """Return the files, as `trace_files` does, with the addresses of object storage as they are:
    whoever reads a part of such a file copies that part."""
    sources: list[Path | str] = []
    for name in paths:
        if is_address(name):
            sources.append(str(name))
        else:  # any process may read a shard, in any folder
            sources.extend(file.absolute() for file in trace_files([name]))
    return sources


def _files_of_folder(folder: Path) -> list[Path]:
    """The files of a folder, else those of its subfolders: coding agents have a folder for each
    project or day."""
    if files := files_in(folder):
        return [*files, *_files_of_subagents(files), *sorted(folder.glob("events/event-*.json"))]
    below = sorted(path for path in folder.rglob("*") if path.name.endswith(_SESSION_FILES))
    files = [path for path in below if path.is_file() and not path.name.endswith(_NOTE_FILES)]
    if not files:
        raise InputError("no files in this folder or below it", where=str(folder))
    return files


def _files_of_subagents(files: Iterable[Path]) -> list[Path]:
    """The runs of sub-agents, which Claude Code stores in a folder named like the session."""
    sessions = (path.with_suffix("") for path in files if path.suffix == ".jsonl")
    return sorted(run for session in sessions for run in session.glob("subagents/*.jsonl"))


def _skip_unknown_files(files: list[Path], report: ProblemListener) -> list[Path]:
    known: list[Path] = []
    skipped: list[Problem] = []
    for path in files:
        try:
            if FileState.of(path).size < _PROBED_SIZE:
                recognize_file(path)
            known.append(path)
        except UnknownFormatError as error:
            message = f"skipped: {error.message}"
            skipped.append(Problem(where=str(path), message=message, severity="note"))
        except CarobError:  # whoever reads it says what is wrong
            known.append(path)
    for problem in skipped if known else ():
        report(problem)
    return known or files


def worker_count(paths: Sequence[Path]) -> int:
    """Return how many processes are useful for these files."""
    small = sum(FileState.of(path).size for path in paths) < _SMALL_INPUT
    return 1 if small else cpu_count()


def log_finders(
    mapping: str | None, config: Path | None = None, *, fields: Sequence[str] = LOG_FIELDS
) -> tuple[ContainerFinder, ...]:
    """Return what finds logs under the names of the `[map]` table of a config, and of a mapping,
    which may name these fields."""
    names = log_names(mapping, config, fields=fields)
    if not names:
        return ()
    from carob.traces.containers.log import map_logs  # late: few logs have names of their own

    return (map_logs(names),)


def log_names(
    mapping: str | None, config: Path | None = None, *, fields: Sequence[str] = LOG_FIELDS
) -> dict[str, str]:
    """Return under which names logs state their fields."""
    stated = parse_field_map(mapping, fields) if mapping else {}
    return select_fields({**configured_mapping(config), **stated}, LOG_FIELDS)


@contextmanager
def trace_batches(
    paths: Sequence[Path],
    dataset: Dataset | None,
    jobs: int,
    report: ProblemListener,
    reading: ProgressListener = ignore,
    finders: Sequence[ContainerFinder] = (),
    *,
    spans: bool = False,
) -> Generator[list[Batch]]:
    """Split the traces of files, or those that the golden data carries, into batches. Batches of
    files can be read, by any process, until the block ends. With `spans`, traces hold theirs."""
    if not paths:
        yield _row_batches(dataset)
        return
    with using_containers(finders), expecting_traces(paths):
        traces = open_traces(paths, jobs=jobs, report=report, progress=reading, keep_spans=spans)
    with traces:
        yield _batches(traces, finders)


@contextmanager
def chunk_batches(
    chunks: Sequence[Chunk], report: ProblemListener, finders: Sequence[ContainerFinder] = ()
) -> Generator[list[Batch]]:
    """Split the traces of files, or of ranges of them, into batches that this process reads."""
    with using_containers(finders):
        traces = open_chunks(chunks, report=report)
    with traces:
        yield _batches(traces, finders)


def _batches(traces: TraceSet, finders: Sequence[ContainerFinder]) -> list[Batch]:
    return [partial(_read, shard, finders) for shard in traces.shards()]


def _read(shard: Shard, finders: Sequence[ContainerFinder]) -> Iterator[Trace]:
    """Read a shard. A function of this module, because a worker process that unpickles it imports
    the module and with it the plugins, which know containers and conventions of other packages."""
    if not finders:
        return read_shard(shard)
    with using_containers(finders):  # read at once: the containers are those of this block
        return iter([*read_shard(shard)])


def _row_batches(dataset: Dataset | None) -> list[Batch]:
    cases = dataset.cases if dataset else ()
    if not any(case.recorded for case in cases):
        hint = "pass trace files, or golden data that carries traces (explain, simulation)"
        raise UsageError("no traces to score", hint=hint)
    starts = range(0, len(cases), _ROWS_PER_BATCH)
    return [_row_batch(cases, start, min(start + _ROWS_PER_BATCH, len(cases))) for start in starts]


def _row_batch(cases: Sequence[Case], start: int, stop: int) -> Batch:
    if isinstance(cases, SpooledSequence):  # the process that scores them reads them
        return partial(_read_rows, cases, start, stop)
    return partial(recorded_pairs, cases[start:stop])


def _read_rows(cases: Sequence[Case], start: int, stop: int) -> Iterator[Pair]:
    return recorded_pairs(cases[position] for position in range(start, stop))


def recorded_pairs(cases: Iterable[Case]) -> Iterator[Pair]:
    """Yield the cases that carry a trace, with that trace. They need no pairing."""
    # Late: most runs read trace files, and start sooner without the reader of tables.
    from carob.traces.containers.simulation import with_spans

    for case in cases:
        if case.recorded:
            yield Pair(case, with_spans(case.recorded), "the same row")


@contextmanager
def expecting_traces(paths: Iterable[Path]) -> Generator[None]:
    """Say so if a file that cannot be read as traces is golden data."""
    try:
        yield
    except InputError as error:
        for path in paths:
            form = golden_format(path) if (error.where or "").startswith(str(path)) else None
            if form and not (form.name in _VAGUE and _is_of_traces(error)):
                raise InputError(
                    f"found golden data ({form.name}), expected traces",
                    where=str(path),
                    hint="pass it as --golden to `carob run`, or to `carob show`",
                ) from error
        raise


def _is_of_traces(error: InputError) -> bool:
    """Whether an error says more than that a file may be golden rows, as nearly any table may: the
    file is of a known container, or has keys that golden data lack."""
    return not isinstance(error, UnknownFormatError) or bool(_TRACE_WORDS.search(error.message))


def check_report_path(path: Path) -> None:
    """Refuse to replace golden data or traces by a report: `-o golden.json` for `-o report.json`. A
    report is replaced, as in other tools."""
    if (
        path.is_file()
        and path.stat().st_size
        and not _is_own_report(path)
        and (content := describe_input(path, golden_formats()))
    ):
        raise UsageError(f"{path} contains {content}", hint="pass another file name to -o")


def _is_own_report(path: Path) -> bool:
    """Whether Carob wrote the file. The first line that says so is enough: the report of a large
    run is too large to be read as anything else."""
    with suppress(OSError), path.open("rb") as file:
        return _OWN_REPORT.match(file.read(_START)) is not None
    return False


def golden_format(path: Path) -> Format | None:
    """Return the format of a golden file, or `None` if it is not one."""
    try:
        return open_golden(path, golden_formats()).format
    except CarobError:
        return None
