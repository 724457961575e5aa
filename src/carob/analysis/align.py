"""Align two runs case by case: what is the same in both, and what changed besides the agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carob.analysis.changed_inputs import SharedMetrics, input_changes, shared_metrics
from carob.analysis.per_case import Attempts, CasePair, attempts_by_case
from carob.schema import Alignment, CaseResult, InputChange, MetricSpec, Run
from carob.schema.status import case_status


class AlignedRuns(NamedTuple):
    """The comparable part of two runs."""

    cases: Alignment
    pairs: Sequence[CasePair]
    specs: Mapping[str, MetricSpec]
    """The metrics that mean the same in both runs."""
    same_threshold: Collection[str]
    """Those of them with the same threshold, or with none, in both runs."""
    verdicts: bool
    """Whether the verdicts on whole cases can be compared."""
    changed_inputs: tuple[InputChange, ...]


def align(before: Run, after: Run) -> AlignedRuns:
    """Pair the cases of two runs. Cases with a changed question or expectation are left out."""
    cases, pairs = _pair_cases(before, after)
    metrics = shared_metrics(before, after)
    changes = (*metrics.changes, *input_changes(before, after, pairs))
    same_rules = not any(change.what in ("metric", "profile") for change in changes)
    by_profile = any(result.judgement for run in (before, after) for result in run.cases)
    # The stored status of a case depends on every metric with a threshold. If one of them changed,
    # a case may flip although the agent answered the same, so that statuses are derived again from
    # the metrics that both runs share. With profiles that is not possible: weights are not stored.
    if not same_rules and not by_profile:
        pairs = [_pair_with_shared_status(pair, metrics) for pair in pairs]
    return AlignedRuns(
        cases=cases,
        pairs=pairs,
        specs=metrics.specs,
        same_threshold=metrics.same_threshold,
        verdicts=(same_rules or not by_profile) and (by_profile or _any_threshold(metrics)),
        changed_inputs=changes,
    )


def _pair_cases(before: Run, after: Run) -> tuple[Alignment, list[CasePair]]:
    old, new = attempts_by_case(before), attempts_by_case(after)
    common = [case for case in new if case in old]
    same_dataset = _dataset_digest(before) == _dataset_digest(after) is not None
    pairs = [
        CasePair(case, old[case], new[case])
        for case in common
        if same_dataset or old[case][0].digest == new[case][0].digest is not None
    ]
    same = {pair.case for pair in pairs}
    alignment = Alignment(
        same=len(pairs),
        added=tuple(case for case in new if case not in old),
        removed=tuple(case for case in old if case not in new),
        changed=tuple(case for case in common if case not in same),
    )
    return alignment, pairs


def _dataset_digest(run: Run) -> str | None:
    return run.dataset.digest if run.dataset else None


def _any_threshold(metrics: SharedMetrics) -> bool:
    """A verdict that neither a threshold nor a profile made means nothing."""
    return any(metrics.specs[name].threshold is not None for name in metrics.same_threshold)


def _pair_with_shared_status(pair: CasePair, metrics: SharedMetrics) -> CasePair:
    """Derive the status of each result from the metrics that have the same threshold in both."""
    before = [*_with_shared_status(pair.before, metrics)]
    return CasePair(pair.case, before, [*_with_shared_status(pair.after, metrics)])


def _with_shared_status(results: Attempts, metrics: SharedMetrics) -> Iterator[CaseResult]:
    for result in results:
        shared = [score for score in result.scores if score.metric in metrics.same_threshold]
        yield msgspec.structs.replace(result, status=case_status(shared))
