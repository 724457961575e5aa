from __future__ import annotations

import pytest

from carob.analysis.invariance import measure_invariance
from carob.schema import Case, CaseCounts, CaseResult, CaseScore, Run, RunSummary, Status


def variant(id: str, parent: str, relation: str = "typos", holds: str = "same") -> Case:
    lineage = {"source": "synthetic", "parent": parent, "relation": relation, "holds": holds}
    return Case.of(id, id=id, metadata=dict(lineage))


def run(**statuses: Status) -> Run:
    results = tuple(
        CaseResult(case, "t", status, (CaseScore("rouge_l", status),))
        for case, status in statuses.items()
    )
    summary = RunSummary(cases=CaseCounts(), metrics={})
    return Run(
        id="r", created_at="", verdict="failed", dataset=None, metrics=(), cases=results,
        summary=summary,
    )  # fmt: skip


def test_a_variant_that_fails_like_its_parent_is_invariant():
    result = measure_invariance(
        run(a="failed", a1="failed", b="passed", b1="failed"),
        [variant("a1", "a"), variant("b1", "b")],
    )
    assert result.value == pytest.approx(0.5)
    assert [(item.case, item.expected, item.actual) for item in result.broken] == [
        ("b1", "passed", "failed")
    ]


def test_a_variant_without_a_verdict_is_left_out():
    result = measure_invariance(
        run(a="passed", a1="unscored", a2="passed"), [variant("a1", "a"), variant("a2", "missing")]
    )
    assert (result.value, result.compared, result.left_out) == (None, 0, 2)


def test_only_variants_that_must_behave_as_their_parent_are_compared():
    result = measure_invariance(
        run(a="passed", a1="failed"), [variant("a1", "a", holds="ask"), Case.of("b", id="a1")]
    )
    assert result.relations == ()
