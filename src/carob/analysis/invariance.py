"""Invariance: the share of synthetic variants whose outcome is that of their parent.

A metric sees one case and its trace, and a variant is compared with another case. So this is an
analysis of a run, not a metric in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carob.schema import Case, CaseResult, Run
from carob.schema.synth import (
    HOLDS,
    PARENT,
    RELATION,
    SOURCE,
    SYNTHETIC,
    BrokenVariant,
    Invariance,
    RelationInvariance,
)

_DECIDED = ("passed", "failed")


def measure_invariance(run: Run, cases: Iterable[Case]) -> Invariance:
    """Compare each variant that must behave as its parent with the parent, by relation. A variant
    is compared if both have a verdict; its outcome is the same if the verdicts of the case and of
    every metric are. With several attempts, those of one case all count."""
    results: dict[str, list[CaseResult]] = {}
    for result in run.cases:
        if result.case is not None:
            results.setdefault(result.case, []).append(result)
    counts: dict[str, list[int]] = {}
    broken: list[BrokenVariant] = []
    for case in cases:
        if case.metadata.get(SOURCE) != SYNTHETIC or case.metadata.get(HOLDS) != "same":
            continue
        parent, relation = str(case.metadata.get(PARENT)), str(case.metadata.get(RELATION))
        tally = counts.setdefault(relation, [0, 0, 0])
        variant, original = results.get(case.id, []), results.get(parent, [])
        if not _are_decided(variant) or not _are_decided(original):
            tally[2] += 1
            continue
        tally[0] += 1
        if _verdicts(variant) == _verdicts(original):
            tally[1] += 1
        else:
            statuses = (original[0].status, variant[0].status)
            broken.append(BrokenVariant(case.id, parent, relation, *statuses))
    rows = tuple(
        RelationInvariance(name, compared, equal, left_out)
        for name, (compared, equal, left_out) in sorted(counts.items())
    )
    return _total(rows, broken)


def _total(rows: Sequence[RelationInvariance], broken: Sequence[BrokenVariant]) -> Invariance:
    compared = sum(row.compared for row in rows)
    value = sum(row.equal for row in rows) / compared if compared else None
    return Invariance(
        value, compared, sum(row.left_out for row in rows), tuple(rows), tuple(broken)
    )


def _are_decided(results: Sequence[CaseResult]) -> bool:
    return bool(results) and all(result.status in _DECIDED for result in results)


def _verdicts(results: Sequence[CaseResult]) -> set[tuple[str, str]]:
    return {
        (name, status)
        for result in results
        for name, status in (
            ("", result.status),
            *((score.metric, score.status) for score in result.scores if score.status in _DECIDED),
        )
    }
