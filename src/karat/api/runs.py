"""Use-cases of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path

import msgspec

from karat import plugins
from karat.analysis.summary import summarise
from karat.api.golden import PathName, load
from karat.config import Config, MetricChoice
from karat.datasets.digest import dataset_digest
from karat.errors import InputError, UsageError
from karat.metrics import build
from karat.policy.profile import load_profile
from karat.runner.done import Done
from karat.runner.execute import Batch, Progress, Work, execute
from karat.runner.journal import Journal
from karat.runner.pairing import Pair
from karat.runner.plan import Plan, Use
from karat.schema import Case, Dataset, Run, RunDataset, Trace, Verdict

DEFAULT_METRICS = (
    MetricChoice(name="tool_trajectory_avg_score"),
    MetricChoice(name="response_match_score"),
)
"""What is measured when nobody says what: ADK's own defaults."""
_ROWS = 500
"""Cases with their recordings that are scored in one go."""


def run(
    traces: Iterable[PathName] = (),
    *,
    golden: PathName | None = None,
    metrics: Sequence[MetricChoice] = (),
    profile: str | None = None,
    cross: bool = False,
    jobs: int | None = None,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> Run:
    """Score traces against golden data; without traces, the recordings that the data carries."""
    paths = [Path(path) for path in traces]
    dataset = load(golden) if golden is not None else None
    plan = _plan(metrics or DEFAULT_METRICS, dataset, profile)
    batches = _batches(paths, dataset, jobs or _cores())
    work = Work(plan=plan, cases=dataset.cases if dataset else (), crossed=cross)
    journal = Journal(_journal_path(paths, dataset, plan), resume=resume)
    done = execute(work, batches, jobs=jobs or _cores(), journal=journal, progress=progress)
    journal.close()
    return _run(plan, dataset, done)
