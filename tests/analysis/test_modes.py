from __future__ import annotations

from carob.analysis.modes import paired_modes
from carob.analysis.summary import summarise
from carob.schema import Case, CaseResult, CaseScore, PairedMetric, Status, Turn


def case(id: str, mode: str, *, scenario: str = "return_late", question: str = "Why?") -> Case:
    turns = (Turn(user=question),)
    return Case(id=id, turns=turns, metadata={"workflow_mode": mode, "scenario_id": scenario})


def result(case: str, value: float | None, status: Status = "passed") -> CaseResult:
    scores = (CaseScore(metric="recall", status="passed", value=value),)
    return CaseResult(case=case, trace="t", status=status, scores=scores)


def by_id(*cases: Case) -> dict[str, Case]:
    return {one.id: one for one in cases}


def test_two_modes_of_a_scenario_are_a_pair():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    (made,) = paired_modes([result("m", 0.5), result("s", 1.0, "failed")], cases)
    assert made.modes == ("multi-agent", "single-agent")
    assert made.passed == (1, 0)
    assert made.metrics["recall"] == PairedMetric(
        pairs=1, means=(0.5, 1.0), difference=0.5, first_higher=0, second_higher=1, equal=0
    )


def test_other_questions_and_other_scenarios_are_no_pair():
    cases = by_id(
        case("m", "multi-agent"),
        case("q", "single-agent", question="When?"),
        case("s", "single-agent", scenario="stock"),
    )
    assert paired_modes([result(one, 1.0) for one in cases], cases) == ()


def test_a_metric_counts_only_where_both_modes_were_scored():
    cases = by_id(
        case("m1", "multi-agent"),
        case("s1", "single-agent"),
        case("m2", "multi-agent", scenario="stock"),
        case("s2", "single-agent", scenario="stock"),
    )
    values = {"m1": 1.0, "s1": None, "m2": 0.25, "s2": 0.25}
    (made,) = paired_modes([result(one, value) for one, value in values.items()], cases)
    assert made.pairs == 2
    assert made.metrics["recall"].pairs == made.metrics["recall"].equal == 1


def test_repeats_are_averaged_before_they_are_compared():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    results = [result("m", 1.0), result("m", 0.0), result("s", 0.5)]
    (made,) = paired_modes(results, cases)
    assert (made.metrics["recall"].pairs, made.metrics["recall"].difference) == (1, 0.0)


def test_a_case_that_nothing_was_recorded_for_is_in_no_pair():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    missing = CaseResult(case="s", trace=None, status="unscored")
    assert paired_modes([result("m", 1.0), missing], cases) == ()


def test_the_summary_of_a_run_has_the_same_comparison():
    cases = by_id(case("m", "multi-agent"), case("s", "single-agent"))
    results = [result("m", 0.5), result("s", 1.0)]
    assert summarise(results, cases).modes == paired_modes(results, cases)
