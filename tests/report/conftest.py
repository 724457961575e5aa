"""Runs for the tests of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from carob.schema import (
    CaseCounts,
    CaseResult,
    MetricSpec,
    MetricSummary,
    Run,
    RunDataset,
    RunSummary,
)
from carob.schema.run import SummaryGroup, UnmatchedTrace

MakeRun = Callable[..., Run]


def _run(
    *cases: CaseResult,
    groups: Iterable[SummaryGroup] = (),
    unmatched: Iterable[UnmatchedTrace] = (),
    name: str = "support",
) -> Run:
    statuses = [case.status for case in cases]
    counts = CaseCounts(
        total=len(cases),
        passed=statuses.count("passed"),
        failed=statuses.count("failed"),
        unscored=statuses.count("unscored"),
        errors=statuses.count("error"),
    )
    names = dict.fromkeys(score.metric for case in cases for score in case.scores)
    uses = [
        MetricSpec(
            name=metric, version=1, params={}, threshold=0.8, scale=(0.0, 1.0), better="higher"
        )
        for metric in names
    ]
    return Run(
        id="run-0123456789abcdef",
        created_at="2026-03-02T08:00:00Z",
        verdict="failed" if counts.failed else "passed",
        dataset=RunDataset(name=name, version="1.2.0", digest="sha256:ab", format="adk"),
        metrics=tuple(uses),
        cases=cases,
        summary=RunSummary(
            cases=counts,
            metrics={metric: MetricSummary(mean=0.5) for metric in names},
            groups=tuple(groups),
        ),
        unmatched=tuple(unmatched),
    )


@pytest.fixture
def make_run() -> MakeRun:
    """Build a run of some cases, with its summary."""
    return _run
