from __future__ import annotations

from carob.analysis.summary import summarise
from carob.schema import (
    Case,
    CaseResult,
    CaseScore,
    ModeComparison,
    PairedMetric,
    ProfileVerdict,
    Status,
    Turn,
)


def case(id: str, mode: str, *, scenario: str = "return_late", question: str = "Why?") -> Case:
    turns = (Turn(user=question),)
    return Case(id=id, turns=turns, metadata={"workflow_mode": mode, "scenario_id": scenario})


def result(case: str, value: float | None, status: Status = "passed") -> CaseResult:
    scores = (CaseScore(metric="recall", status="passed", value=value),)
    return CaseResult(case=case, trace="t", status=status, scores=scores)


def by_id(*cases: Case) -> dict[str, Case]:
    return {case.id: case for case in cases}


def compare_modes(results: list[CaseResult], cases: dict[str, Case]) -> tuple[ModeComparison, ...]:
    return summarise(results, cases).modes


def test_two_modes_of_a_scenario_are_a_pair():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    (comparison,) = compare_modes([result("m", 0.5), result("s", 1.0, "failed")], cases)
    assert comparison.modes == ("multi-agent", "single-agent")
    assert comparison.passed == (1, 0)
    assert comparison.metrics["recall"] == PairedMetric(
        pairs=1, means=(0.5, 1.0), difference=0.5, first_higher=0, second_higher=1, equal=0
    )


def test_different_questions_or_scenarios_are_not_paired():
    cases = by_id(
        case("m", "multi-agent"),
        case("q", "single-agent", question="When?"),
        case("s", "single-agent", scenario="stock"),
    )
    assert compare_modes([result(case, 1.0) for case in cases], cases) == ()


def test_metric_counts_only_where_both_modes_were_scored():
    cases = by_id(
        case("m1", "multi-agent"),
        case("s1", "single-agent"),
        case("m2", "multi-agent", scenario="stock"),
        case("s2", "single-agent", scenario="stock"),
    )
    values = {"m1": 1.0, "s1": None, "m2": 0.25, "s2": 0.25}
    (comparison,) = compare_modes([result(item, value) for item, value in values.items()], cases)
    assert comparison.pairs == 2
    assert comparison.metrics["recall"] == PairedMetric(
        pairs=1, means=(0.25, 0.25), difference=0.0, first_higher=0, second_higher=0, equal=1
    )


def test_metric_that_one_mode_never_has_is_not_compared():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    (comparison,) = compare_modes([result("m", 1.0), CaseResult("s", "t", "passed")], cases)
    assert (comparison.pairs, comparison.metrics, comparison.composite) == (1, {}, None)


def test_composite_scores_of_both_modes_are_compared():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    results = [
        CaseResult(id, "t", "passed", judgement=ProfileVerdict("prep", composite, True, ""))
        for id, composite in {"m": 3.5, "s": 3.0}.items()
    ]
    (comparison,) = compare_modes(results, cases)
    assert comparison.composite == PairedMetric(
        pairs=1, means=(3.5, 3.0), difference=-0.5, first_higher=1, second_higher=0, equal=0
    )


def test_scenario_without_turns_is_paired_with_the_same_scenario():
    played = [
        Case(id=id, turns=(), metadata={"workflow_mode": mode, "scenario_id": "late"})
        for id, mode in {"m": "multi-agent", "s": "single-agent"}.items()
    ]
    silent = case("x", "a-third", scenario="late", question="")
    results = [result(id, 1.0) for id in "msx"]
    assert [found.pairs for found in compare_modes(results, by_id(*played, silent))] == [1, 1, 1]


def test_repeats_are_averaged_before_they_are_compared():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    results = [result("m", 1.0), result("m", 0.0), result("s", 0.5)]
    (comparison,) = compare_modes(results, cases)
    assert (comparison.metrics["recall"].pairs, comparison.metrics["recall"].difference) == (1, 0.0)


def test_case_without_a_trace_is_not_paired():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    missing = CaseResult(case="s", trace=None, status="unscored")
    assert compare_modes([result("m", 1.0), missing], cases) == ()
