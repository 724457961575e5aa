"""`carob run --on`: make a run on a Ray cluster.

The driver divides the traces into shards, workers score them and commit the results to the store,
and the driver makes the run of them. Workers get the request, with the golden data and the config
as the driver read them, and the paths and ranges of the shards: they read the traces themselves.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from carob import __version__
from carob.api.load import configured_mapping
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.evaluation import Evaluation
from carob.api.running.prepare import PreparedRun, prepare_run
from carob.api.running.sources import log_finders
from carob.api.settings import load_trusted
from carob.api.shards import RunShard, ShardedRun
from carob.config import Config
from carob.errors import CarobError, StoppedError, UsageError
from carob.runner.cluster import Cluster, TaskReport, check_address, check_packages
from carob.schema import Dataset, Problem
from carob.schema.field_map import ALL_FIELDS, format_field_map, parse_field_map
from carob.store.url import is_postgres
from carob.traces.containers.registry import using_containers
from carob.traces.grouping import ChunkFacts
from carob.traces.reading.stream import Chunk

_AGAIN = "run the same command again to continue"


class ClusterWork(msgspec.Struct, frozen=True):
    """What every worker needs."""

    version: str
    folder: str
    """The working directory of the driver, which relative paths start from."""
    request: RunRequest
    shards: tuple[RunShard, ...] = ()


def evaluate_on_cluster(request: RunRequest, listeners: Listeners) -> Evaluation:
    """Make a run on the cluster that a request names, and save it. Shards that an earlier attempt
    has committed are not scored again."""
    address = request.on or ""
    check_address(address)
    check_packages()  # before anything is read
    _check_request(request)
    prepared = prepare_run(request, listeners)
    request = _portable_request(request, prepared)
    work = ClusterWork(__version__, str(Path.cwd()), request)
    with Cluster(address, jobs=request.jobs, report=listeners.problem) as cluster:
        if cluster.is_remote() and not is_postgres(request.store or ""):
            hint = "pass --store postgresql://…"
            raise UsageError("a cluster of several machines needs a PostgreSQL store", hint=hint)
        survey = partial(_survey, cluster, work, listeners)
        run = ShardedRun(request, Listeners(problem=listeners.problem), survey=survey)
        run.start()
        _score(cluster, msgspec.structs.replace(work, shards=run.shards), run, listeners)
        result = run.finish()
    if result is None:
        raise StoppedError("another process has completed this run", hint="see `carob runs`")
    golden, path = prepared.golden, prepared.config.path
    return Evaluation(run=result, golden=golden, store=request.store, config=path)


def _check_request(request: RunRequest) -> None:
    refused = {
        "--no-store": not request.save,
        "--keep-traces": request.keep_traces,
        "--target": request.live is not None,
        "--traces-of": request.rescore is not None,
    }
    for option, is_used in refused.items():
        if is_used:
            raise UsageError(f"{option} cannot be combined with --on")


def _portable_request(request: RunRequest, prepared: PreparedRun) -> RunRequest:
    """Return a request that means the same on another machine: with the golden data and the config
    instead of their paths. The cases of a large file are in memory then."""
    cases, config = prepared.cases, request.config
    if not isinstance(config, Config):
        # As it is in the file, without what `prepare_run` added: workers prepare the run again.
        config = load_trusted(config, trust_all=request.trust_config)
    mapping = {**configured_mapping(config.path)}
    if request.mapping:
        mapping |= parse_field_map(request.mapping, ALL_FIELDS)
    store = prepared.store or ""
    return msgspec.structs.replace(
        request,
        golden=_in_memory(cases.whole) if cases else None,
        config=msgspec.structs.replace(config, golden=None),
        traces=request.traces or config.traces,
        mapping=format_field_map(mapping) or None,
        store=store if is_postgres(store) else str(Path(store).absolute()),
    )


def _in_memory(dataset: Dataset) -> Dataset:
    return msgspec.structs.replace(dataset, cases=tuple(dataset.cases))


def _survey(
    cluster: Cluster,
    work: ClusterWork,
    listeners: Listeners,
    function: Callable[[Chunk], ChunkFacts],
    chunks: Sequence[Chunk],
) -> Iterator[ChunkFacts]:
    """Read all chunks for the first time, on the cluster."""
    facts: dict[int, ChunkFacts] = {}
    sizes = [(chunk.end or 0) - chunk.start for chunk in chunks]
    items = [(function, chunk) for chunk in chunks]
    done = 0
    for number, report in _interruptible(cluster.run(_survey_chunk, work, items)):
        facts[number] = report.result
        done += sizes[number]
        listeners.reading(done, sum(sizes))
    return (facts[number] for number in range(len(chunks)))


def _score(cluster: Cluster, work: ClusterWork, run: ShardedRun, listeners: Listeners) -> None:
    missing, total = run.missing(), len(run.shards)
    done = total - len(missing)
    listeners.scoring(done, total)
    for _, report in _interruptible(cluster.run(_score_shard, work, missing)):
        for problem in report.problems:
            listeners.problem(problem)
        done += 1
        listeners.scoring(done, total)


def _interruptible(
    reports: Iterator[tuple[int, TaskReport]],
) -> Iterator[tuple[int, TaskReport]]:
    try:
        yield from reports
    except KeyboardInterrupt as error:
        raise StoppedError("stopped; finished shards are saved", hint=_AGAIN) from error


# What follows runs in worker processes.

_RUNS: dict[int, ShardedRun] = {}
_PROBLEMS: list[Problem] = []


def _survey_chunk(
    work: ClusterWork, item: tuple[Callable[[Chunk], ChunkFacts], Chunk]
) -> TaskReport:
    function, chunk = item
    try:
        _enter(work)
        config = work.request.config
        path = None if config is None or isinstance(config, Path) else config.path
        with using_containers(log_finders(work.request.mapping, path, fields=ALL_FIELDS)):
            return TaskReport(function(chunk))
    except CarobError as error:
        return TaskReport(error=error)


def _score_shard(work: ClusterWork, number: int) -> TaskReport:
    _PROBLEMS.clear()
    try:
        _enter(work)
        run = _open_run(work)
        if number in run.missing():  # else a worker died after it had committed the shard
            run.score(number)
        return TaskReport(problems=tuple(_PROBLEMS))
    except CarobError as error:
        return TaskReport(error=error)


def _enter(work: ClusterWork) -> None:
    if work.version != __version__:
        message = f"Carob {__version__} on this machine, {work.version} where the run was started"
        raise UsageError(message, where=socket.gethostname(), hint="install the same version")
    with suppress(OSError):  # another machine need not have the folder
        os.chdir(work.folder)


def _open_run(work: ClusterWork) -> ShardedRun:
    """A process opens the run once: loading golden data takes longer than scoring a shard."""
    if id(work) not in _RUNS:
        _RUNS.clear()
        listeners = Listeners(problem=_PROBLEMS.append)
        _RUNS[id(work)] = ShardedRun(work.request, listeners, shards=work.shards)
    return _RUNS[id(work)]
