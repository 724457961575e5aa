"""A run in shards, which any number of processes score, on one machine or on many.

A shard is a group of trace files, or of byte ranges of them, that share no session with others; its
digest covers their content and everything that scores them. Results are committed to the store,
each shard once, whoever scores it and however often. When all are there, one process makes the run
of them, with the same bytes as if it had scored all files itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob import __version__
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.assemble import assemble_run
from carob.api.running.prepare import PreparedRun, prepare_run, scoring_job, shard_paths
from carob.api.running.sources import chunk_batches, expecting_traces, log_finders, log_names
from carob.api.store import git_labels
from carob.errors import InputError, StoppedError, UsageError
from carob.runner.judging import JudgeScorer
from carob.runner.merge import combine_batches, merge_batches
from carob.schema import Run
from carob.schema.field_map import ALL_FIELDS
from carob.store import open_store
from carob.store.document import split_run
from carob.store.runs import complete_run
from carob.store.spending import StoredSpending
from carob.store.unfinished import RunKey, commit_shard, load_shards, shard_numbers, start_run
from carob.traces.containers.registry import using_containers
from carob.traces.grouping import Survey, content_digest, group_chunks, local_chunks
from carob.traces.read import PART_SIZE
from carob.traces.reading.stream import Chunk


class RunShard(NamedTuple):
    """A part of a run."""

    chunks: tuple[Chunk, ...]
    """Files, and ranges of files of JSON lines."""
    digest: str
    """Identifies the traces of the shard and everything that scores them."""


class ShardedRun:
    """A run that is made shard by shard. Every process opens it with the same request."""

    def __init__(
        self,
        request: RunRequest,
        listeners: Listeners | None = None,
        *,
        range_size: int = PART_SIZE,
        survey: Survey = map,
        shards: Sequence[RunShard] | None = None,
    ) -> None:
        """Divide the traces of a request. JSON lines are divided into ranges of about `range_size`
        bytes, which must be the same in every process. `survey` reads them for the first time. A
        process that gets the `shards` of another one divides nothing."""
        self._request, self._listeners = request, listeners or Listeners()
        self._prepared = prepare_run(request, self._listeners)
        store, cases = self._prepared.store, self._prepared.cases
        paths = () if shards else shard_paths(request, self._prepared.config)
        if store is None or not (shards or paths):
            raise UsageError("only a run of trace files that is saved in a store has shards")
        self._store = store
        path = self._prepared.config.path
        self._scored_by = _scored_by(request, self._prepared)
        self._finders = log_finders(request.mapping, path, fields=ALL_FIELDS)
        self._job = scoring_job(request, self._prepared.plan, cases)
        if shards is None:
            local = [path for path in paths if isinstance(path, Path)]
            with using_containers(self._finders), expecting_traces(local):
                groups = group_chunks(paths, range_size, survey)
            shards = [self._shard(group.chunks, group.digests) for group in groups]
        self.shards = tuple(shards)
        """The shards, in the same order in every process."""
        key = _digest(shard.digest.encode() for shard in self.shards)
        self._key = RunKey(key, cases.whole.name if cases else None, len(self.shards))
        if self._prepared.plan.waits:
            self._prepared.judges.share_spending(StoredSpending(store, key))

    def start(self) -> None:
        """Register the run in the store. Exactly one process does this, before any shard is
        scored: a shard of a run that is complete is not committed again."""
        with open_store(self._store, create=True) as database:
            start_run(database, self._key)

    def missing(self) -> list[int]:
        """Return the numbers of the shards that are not committed yet."""
        with open_store(self._store) as database:
            committed = {*shard_numbers(database, self._key.key)}
        return [number for number in range(len(self.shards)) if number not in committed]

    def score(self, number: int) -> bool:
        """Score a shard and commit its results. Returns whether they are new. Raises
        `StoppedError` if the limits of judges, which hold for all processes, do not allow it."""
        shard, report = self.shards[number], self._listeners.problem
        with ExitStack() as stack:
            chunks = stack.enter_context(local_chunks(shard.chunks))
            self._check_content(shard, chunks)
            batches = stack.enter_context(chunk_batches(chunks, report, self._finders))
            if self._prepared.plan.waits:
                with JudgeScorer(self._job) as scorer:
                    result = combine_batches(map(scorer.score, batches))
            else:
                result = combine_batches(map(self._job.score, batches))
        if stopped := self._prepared.judges.stopped:
            hint = "score the shard again with a higher limit; answers so far are in the store"
            raise StoppedError(f"judging stopped early: {stopped}", hint=hint)
        with open_store(self._store) as database:
            return commit_shard(database, self._key, number, msgspec.json.encode(result))

    def _check_content(self, shard: RunShard, chunks: Sequence[Chunk]) -> None:
        """Refuse files that are not what they were when the run was divided."""
        digests = [content_digest(chunk) for chunk in chunks]
        if self._shard(shard.chunks, digests).digest != shard.digest:
            names = ", ".join(dict.fromkeys(chunk.path for chunk in chunks))
            hint = "all machines need the same files; run it again when nothing writes to them"
            message = "the traces, or what scores them, changed since the run was divided"
            raise InputError(message, where=names, hint=hint)

    def _shard(self, chunks: Iterable[Chunk], digests: Iterable[bytes]) -> RunShard:
        return RunShard(tuple(chunks), _digest([self._scored_by, *digests]))

    def finish(self) -> Run | None:
        """Make the run of its shards and save it. Returns `None` if a shard is missing, or if
        another process has saved the run."""
        with open_store(self._store) as database:
            if len(shard_numbers(database, self._key.key)) < len(self.shards):
                return None
            loaded = _Counted(load_shards(database, self._key.key))
            run = self._merge(loaded)
            if loaded.number < len(self.shards):  # another process completed the run meanwhile
                return None
            labels = git_labels(self._request.labels)
            saved = complete_run(database, split_run(run), labels, self._key.key)
            return None if saved is None else run

    def _merge(self, shards: Iterable[tuple[int, bytes]]) -> Run:
        cases, plan = self._prepared.cases, self._prepared.plan
        if plan.waits:
            with JudgeScorer(self._job) as scorer:
                merged = merge_batches(self._job, shards, scorer.score)
        else:
            merged = merge_batches(self._job, shards)
        run = assemble_run(
            cases.info if cases else None,
            plan.specs,
            merged.results,
            self._job.by_id,
            unmatched=merged.unmatched,
            selection=cases.selection if cases else None,
            by=self._request.by,
        )
        return msgspec.structs.replace(run, spending=merged.usage) if plan.judged else run


class _Counted:
    """Shards, counted while they are read."""

    def __init__(self, shards: Iterable[tuple[int, bytes]]) -> None:
        self._shards, self.number = shards, 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for shard in self._shards:
            self.number += 1
            yield shard


def _scored_by(request: RunRequest, prepared: PreparedRun) -> bytes:
    """Identifies everything that scores a shard."""
    cases, plan = prepared.cases, prepared.plan
    return msgspec.json.encode(
        {
            "carob": __version__,
            "dataset": cases.info.digest if cases else None,
            "selection": cases.selection if cases else None,
            "metrics": plan.specs,
            "profiles": [plan.profile, plan.profiles],
            "mapping": log_names(request.mapping, prepared.config.path, fields=ALL_FIELDS),
            "crossed": request.cross,
        },
        order="deterministic",
    )


def _digest(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
