"""Align two runs case by case: what is the same in both, and what changed besides the agent."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from carob.analysis.changed_inputs import SharedMetrics, input_changes, shared_metrics
from carob.analysis.score_table import ScoreTable
from carob.schema import Alignment, InputChange, MetricSpec, Run


class AlignedRun(NamedTuple):
    """One of two runs."""

    table: ScoreTable
    statuses: bytearray
    """The status of each row, by the rules that both runs share."""


class AlignedRuns(NamedTuple):
    """The comparable part of two runs."""

    cases: Alignment
    pairs: array[int]
    """The numbers of the cases that are the same in both runs, in the order of the second."""
    before: AlignedRun
    after: AlignedRun
    specs: Mapping[str, MetricSpec]
    """The metrics that mean the same in both runs."""
    same_threshold: Collection[str]
    """Those of them with the same threshold, or with none, in both runs."""
    verdicts: bool
    """Whether the verdicts on whole cases can be compared."""
    changed_inputs: tuple[InputChange, ...]

    def name(self, position: int) -> str:
        """The id of the case at a position of the pairs."""
        return self.before.table.cases.names[self.pairs[position]]


def align(before: ScoreTable, after: ScoreTable) -> AlignedRuns:
    """Pair the cases of two runs. Cases with a changed question or expectation are left out."""
    cases, pairs = _pair_cases(before, after)
    metrics = shared_metrics(before.run, after.run)
    changes = (*metrics.changes, *input_changes(before, after, pairs))
    same_rules = not any(change.what in ("metric", "profile") for change in changes)
    by_profile = before.has_profiles or after.has_profiles
    # The stored status of a case depends on every metric with a threshold. If one of them changed,
    # a case may flip although the agent answered the same, so that statuses are derived again from
    # the metrics that both runs share. With profiles that is not possible: weights are not stored.
    derived = not same_rules and not by_profile
    sides = [
        AlignedRun(
            table, table.derive_statuses(metrics.same_threshold) if derived else table.statuses
        )
        for table in (before, after)
    ]
    return AlignedRuns(
        cases=cases,
        pairs=pairs,
        before=sides[0],
        after=sides[1],
        specs=metrics.specs,
        same_threshold=metrics.same_threshold,
        verdicts=(same_rules or not by_profile) and (by_profile or _any_threshold(metrics)),
        changed_inputs=changes,
    )


def _pair_cases(before: ScoreTable, after: ScoreTable) -> tuple[Alignment, array[int]]:
    is_same, names = same_cases(before, after), after.cases.names
    pairs, added, changed = array("i"), list[str](), list[str]()
    for number in after.numbers():
        if number not in before:
            added.append(names[number])
        elif is_same(number):
            pairs.append(number)
        else:
            changed.append(names[number])
    removed = tuple(names[number] for number in before.numbers() if number not in after)
    alignment = Alignment(
        same=len(pairs), added=tuple(added), removed=removed, changed=tuple(changed)
    )
    return alignment, pairs


def same_cases(before: ScoreTable, after: ScoreTable) -> Callable[[int], bool]:
    """Return whether the case with a number has the same question and expectations in both runs. A
    case without a fingerprint is not known to be the same, unless the whole dataset is."""
    same_dataset = _dataset_digest(before.run) == _dataset_digest(after.run) is not None

    def is_same(number: int) -> bool:
        if number not in before or number not in after:
            return False
        return same_dataset or before.digest(number) == after.digest(number) is not None

    return is_same


def _dataset_digest(run: Run) -> str | None:
    return run.dataset.digest if run.dataset else None


def _any_threshold(metrics: SharedMetrics) -> bool:
    """A verdict that neither a threshold nor a profile made means nothing."""
    return any(metrics.specs[name].threshold is not None for name in metrics.same_threshold)
