from __future__ import annotations

import pytest
from msgspec.structs import replace

from carob.analysis.invariance import measure_invariance
from carob.schema import Case, CaseCounts, CaseResult, CaseScore, Run, RunSummary, Status
from carob.schema.synth import BrokenVariant


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


def test_relations_are_counted_on_their_own():
    result = measure_invariance(
        run(a="passed", a1="passed", a2="passed", a3="failed", b="error", b1="passed"),
        [
            Case.of("a", id="a"),
            variant("a1", "a"),
            variant("a2", "a"),
            variant("a3", "a", relation="paraphrase"),
            variant("b1", "b"),
        ],
    )
    rows = [(row.relation, row.compared, row.equal, row.left_out) for row in result.relations]
    assert rows == [("paraphrase", 1, 0, 0), ("typos", 2, 2, 1)]
    assert (result.value, result.compared, result.left_out) == (pytest.approx(2 / 3), 3, 1)
    assert result.broken == (BrokenVariant("a3", "a", "paraphrase", "passed", "failed"),)


def test_the_same_verdict_for_another_reason_is_no_invariance():
    def result(case: str, *scores: CaseScore) -> CaseResult:
        return CaseResult(case, "t", "failed", scores)

    def measure(*scores: CaseScore) -> float | None:
        original = result("a", CaseScore("rouge_l", "failed"), CaseScore("length", "passed"))
        cases = (original, result("a1", *scores))
        return measure_invariance(replace(run(), cases=cases), [variant("a1", "a")]).value

    assert measure(CaseScore("rouge_l", "failed"), CaseScore("length", "passed")) == 1
    assert measure(CaseScore("rouge_l", "passed"), CaseScore("length", "failed")) == 0
    not_decided = CaseScore("judge", "unscored")
    assert measure(CaseScore("rouge_l", "failed"), CaseScore("length", "passed"), not_decided) == 1


def test_every_attempt_counts():
    def measure(*attempts: Status) -> float | None:
        cases = (
            CaseResult("a", "t", "passed", ()),
            *(CaseResult("a1", f"t{number}", status, ()) for number, status in enumerate(attempts)),
        )
        return measure_invariance(replace(run(), cases=cases), [variant("a1", "a")]).value

    assert measure("passed", "passed") == 1
    assert measure("passed", "failed") == 0
    assert measure("passed", "error") is None
