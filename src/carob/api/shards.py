"""A run in shards, which any number of processes score, on one machine or on many.

A shard is a group of trace files that share no session with other files; its digest covers the
content of the files and everything that scores them. Results are committed to the store, each shard
once, whoever scores it and however often. When all are there, one process makes the run of them,
with the same bytes as if it had scored all files itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob import __version__
from carob.api.assemble import assemble_run, dataset_info
from carob.api.prepare import PreparedRun, prepare_run, scoring_job, trace_paths
from carob.api.run_request import Listeners, RunRequest
from carob.api.sources import log_finders, trace_batches
from carob.api.store import git_labels
from carob.errors import UsageError
from carob.files.atomic import FileContent
from carob.runner.judging import JudgeScorer
from carob.runner.merge import combine_batches, merge_batches
from carob.schema import Run
from carob.schema.digest import dataset_digest
from carob.schema.field_map import ALL_FIELDS
from carob.store import open_store
from carob.store.document import split_run
from carob.store.runs import complete_run
from carob.store.unfinished import RunKey, commit_shard, load_shards, shard_numbers, start_run
from carob.traces.containers.registry import using_containers
from carob.traces.read import group_files


class RunShard(NamedTuple):
    """A part of a run."""

    files: tuple[Path, ...]
    digest: str
    """Identifies the traces of the shard and everything that scores them."""


class ShardedRun:
    """A run that is made shard by shard. Every process opens it with the same request."""

    def __init__(self, request: RunRequest, listeners: Listeners | None = None) -> None:
        self._request, self._listeners = request, listeners or Listeners()
        self._prepared = prepare_run(request, self._listeners)
        store, cases = self._prepared.store, self._prepared.cases
        paths = trace_paths(request, self._prepared.config)
        if store is None or not paths:
            raise UsageError("only a run of trace files that is saved in a store has shards")
        self._store = store
        path = self._prepared.config.path
        self._finders = log_finders(request.mapping, path, fields=ALL_FIELDS)
        self._job = scoring_job(request, self._prepared.plan, cases)
        with using_containers(self._finders):
            self.shards = _divide(paths, self._prepared)
        """The shards, in the same order in every process."""
        key = _digest(shard.digest.encode() for shard in self.shards)
        self._key = RunKey(key, cases.whole.name if cases else None, len(self.shards))

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
        """Score a shard and commit its results. Returns whether they are new."""
        part = self._prepared.cases.part if self._prepared.cases else None
        files = self.shards[number].files
        report = self._listeners.problem
        with trace_batches(files, part, 1, report, finders=self._finders) as batches:
            if self._prepared.plan.waits:
                with JudgeScorer(self._job) as scorer:
                    result = combine_batches(map(scorer.score, batches))
            else:
                result = combine_batches(map(self._job.score, batches))
        with open_store(self._store) as database:
            return commit_shard(database, self._key, number, msgspec.json.encode(result))

    def finish(self) -> Run | None:
        """Make the run of its shards and save it. Returns `None` if a shard is missing, or if
        another process has saved the run."""
        with open_store(self._store) as database:
            if len(shard_numbers(database, self._key.key)) < len(self.shards):
                return None
            run = self._merge(load_shards(database, self._key.key))
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
            dataset_info(cases.whole) if cases else None,
            plan.specs,
            merged.results,
            self._job.by_id,
            unmatched=merged.unmatched,
            selection=cases.selection if cases else None,
            by=self._request.by,
        )
        return msgspec.structs.replace(run, spending=merged.usage) if plan.judged else run


def _divide(paths: Sequence[Path], prepared: PreparedRun) -> tuple[RunShard, ...]:
    cases, plan = prepared.cases, prepared.plan
    scored_by = msgspec.json.encode(
        {
            "carob": __version__,
            "dataset": dataset_digest(cases.whole) if cases else None,
            "selection": cases.selection if cases else None,
            "metrics": plan.specs,
            "profiles": [plan.profile, plan.profiles],
        },
        order="deterministic",
    )
    groups = group_files(paths)
    return tuple(
        RunShard(tuple(files), _digest([scored_by, *map(_file_digest, files)])) for files in groups
    )


def _file_digest(path: Path) -> bytes:
    return _digest(FileContent(path)).encode()


def _digest(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
