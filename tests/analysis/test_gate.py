from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from carob.analysis.compare import compare_tables
from carob.analysis.gate import gate_checks, gate_passes
from carob.analysis.rules import ComparisonRules
from carob.analysis.score_table import CaseNumbers, ScoreTable
from carob.errors import EvaluationError, UsageError
from carob.schema import CaseScore, GateCheck, GateRules, MetricSpec, Run

MakeRun = Callable[..., Run]


def checks_of(run: Run, rules: GateRules, baseline: Run | None = None) -> dict[str, GateCheck]:
    numbers = CaseNumbers()
    after = ScoreTable(run, numbers)
    before = ScoreTable(baseline, numbers) if baseline else None
    comparison = compare_tables(before, after, ComparisonRules()) if before else None
    return {check.name: check for check in gate_checks(after, rules, before, comparison)}


def cases(number: int, failing: int = 0) -> dict[str, float]:
    return {f"case-{n}": float(n >= failing) for n in range(number)}


def test_gate_without_rules_is_an_error(run: MakeRun):
    with pytest.raises(UsageError, match=r"^the gate has nothing to check$") as caught:
        checks_of(run(cases(3)), GateRules())
    assert caught.value.hint == (
        "pass --baseline, --threshold or --min-pass-rate, or set them in [gate]"
    )


def test_run_in_which_nothing_was_decided_is_refused(run: MakeRun):
    finished = run(cases(3), threshold=None)
    for rules in (GateRules(min_pass_rate=1.0), GateRules(thresholds={"recall": 0.5})):
        with pytest.raises(EvaluationError, match="nothing was decided in run-a") as caught:
            checks_of(finished, rules)
        assert caught.value.hint == (
            "score it again with a metric that has a threshold, or with a profile"
        )


def test_mean_must_reach_its_threshold(run: MakeRun):
    rules = GateRules(thresholds={"recall": 0.8})
    assert checks_of(run(cases(10, 2)), rules)["recall"] == GateCheck(
        "recall", "passed", "mean 0.8 over 10 of 10 cases, expected at least 0.8"
    )
    check = checks_of(run(cases(10, 3)), rules)["recall"]
    assert (check.status, check.message) == (
        "failed",
        "mean 0.7 over 10 of 10 cases, expected at least 0.8",
    )


def test_rounding_of_binary_fractions_fails_no_mean(run: MakeRun):
    scores = {"a": 0.1, "b": 0.2, "c": 0.3}  # the sum is 0.6, and 0.6 / 3 is 0.19999999999999998
    rules = GateRules(thresholds={"recall": 0.2})
    assert checks_of(run(scores), rules)["recall"].status == "passed"
    short = run({**scores, "c": 0.299999})
    assert checks_of(short, rules)["recall"].status == "failed"
    # And the mean of three times 0.05 is 0.05000000000000001.
    limit, shares = GateRules(thresholds={"recall": 0.05}), dict.fromkeys("abc", 0.05)
    lower = run(shares, better="lower", threshold=1.0)
    assert checks_of(lower, limit)["recall"].status == "passed"
    above = run({**shares, "c": 0.050001}, better="lower", threshold=1.0)
    assert checks_of(above, limit)["recall"].status == "failed"


def test_rounding_of_binary_fractions_fails_no_pass_rate(run: MakeRun):
    tries = {
        case: [1.0] * passed + [0.0] * (10 - passed)
        for case, passed in zip("abc", (1, 2, 3), strict=True)
    }
    assert checks_of(run(tries), GateRules(min_pass_rate=0.2))["pass_rate"].status == "passed"
    assert checks_of(run(tries), GateRules(min_pass_rate=0.21))["pass_rate"].status == "failed"


def test_mean_must_stay_below_its_threshold_where_lower_is_better(run: MakeRun):
    rules = GateRules(thresholds={"recall": 2.0})
    finished = run({"a": 2.5}, better="lower", threshold=9.0, scale=(0.0, None))
    assert (
        checks_of(finished, rules)["recall"].message
        == "mean 2.5 over 1 of 1 cases, expected at most 2"
    )


def test_mean_is_over_cases_not_attempts(run: MakeRun):
    checks = checks_of(run({"a": [1.0] * 9, "b": 0.0}), GateRules(thresholds={"recall": 0.6}))
    assert checks["recall"].message.startswith("mean 0.5 over 2 of 2 cases")


def test_threshold_for_a_metric_that_was_not_used_is_an_error(run: MakeRun):
    with pytest.raises(UsageError, match="metric 'recal' is not part of the run"):
        checks_of(run(cases(1)), GateRules(thresholds={"recal": 0.5}))


def test_threshold_off_the_scale_is_an_error(run: MakeRun):
    with pytest.raises(UsageError, match="metric 'recall': the threshold is 2, expected"):
        checks_of(run(cases(1)), GateRules(thresholds={"recall": 2.0}))


def test_enough_cases_must_pass(run: MakeRun):
    checks = checks_of(run(cases(10, 2)), GateRules(min_pass_rate=0.9))
    assert checks["pass_rate"] == GateCheck(
        "pass_rate", "failed", "80.0% of 10 cases, expected at least 90.0%"
    )


def test_cases_without_a_verdict_fail_unless_allowed(run: MakeRun):
    finished = run({"a": 1.0, "b": None})
    strict, loose = (
        checks_of(finished, GateRules(min_pass_rate=0.5, allow_unscored=allowed))["scored"]
        for allowed in (False, True)
    )
    assert (strict.status, strict.message) == ("failed", "1 of 2 cases have no verdict: b")
    assert (loose.status, loose.message) == ("passed", "1 of 2 cases have a verdict")


def test_case_unscored_in_both_runs_does_not_fail_the_gate(run: MakeRun):
    baseline = run({"a": 1.0, "b": None})
    checks = checks_of(run({"a": 1.0, "b": None}, id="run-b"), GateRules(), baseline)
    assert checks["scored"].status == "passed"


def test_attempts_without_a_verdict_fail_unless_allowed(run: MakeRun):
    finished = run({"a": [1.0, None, None], "b": [1.0, 1.0]})  # two of three attempts crashed
    strict, loose = (
        checks_of(finished, GateRules(min_pass_rate=1.0, allow_unscored=allowed))["scored"]
        for allowed in (False, True)
    )
    message = "1 of 2 cases have attempts without a verdict: a"
    assert (strict.status, strict.message) == ("failed", message)
    message = "2 of 2 cases have a verdict, 1 of them with attempts that have none"
    assert (loose.status, loose.message) == ("passed", message)


def test_baseline_excuses_as_many_attempts_without_a_verdict_as_it_has(run: MakeRun):
    baseline = run({"a": [1.0, 1.0, None], "b": [1.0, 1.0, 1.0]})
    same = run({"a": [1.0, None, 1.0], "b": [1.0, 1.0, 1.0]}, id="run-b")
    fewer = run({"a": [1.0, None, None], "b": [1.0, 1.0, 1.0]}, id="run-b")
    assert checks_of(same, GateRules(), baseline)["scored"].status == "passed"
    assert checks_of(fewer, GateRules(), baseline)["scored"].status == "failed"


def test_run_in_which_nothing_was_scored_never_passes(run: MakeRun):
    rules = GateRules(min_pass_rate=0.0, allow_unscored=True)
    assert checks_of(run({"a": None}), rules)["scored"].status == "failed"


def test_regression_fails_and_inconclusive_fails_only_if_strict(run: MakeRun):
    regressed = checks_of(run(cases(20, 9), id="b"), GateRules(), run(cases(20)))
    unsure = [*checks_of(run(cases(20, 2), id="b"), GateRules(), run(cases(20))).values()]
    failed = regressed["recall against the baseline"]
    assert failed.status == "failed"
    assert "0.45" in failed.message
    assert [check.status for check in unsure] == ["passed", "inconclusive", "inconclusive"]
    assert gate_passes(unsure, GateRules())
    assert not gate_passes(unsure, GateRules(strict=True))
    for strict in (False, True):
        rejected = [*unsure, GateCheck("recall", "failed", "too low")]
        assert not gate_passes(rejected[-1:], GateRules(strict=strict))
        assert not gate_passes(rejected, GateRules(strict=strict))


def test_same_scores_as_the_baseline_pass(run: MakeRun):
    same = checks_of(run(cases(400, 9), id="b"), GateRules(), run(cases(400, 9)))
    for name in ("pass_rate against the baseline", "recall against the baseline"):
        assert same[name].status == "passed"
        assert same[name].message.startswith("equivalent: ")


def test_baseline_of_different_cases_is_an_error(run: MakeRun):
    with pytest.raises(EvaluationError, match="no case is the same in the baseline") as caught:
        checks_of(run({"a": 1.0}), GateRules(), run({"b": 1.0}))
    assert caught.value.hint == "create a baseline with the golden data of this run"


def test_baseline_of_different_metrics_is_an_error(run: MakeRun):
    with pytest.raises(EvaluationError, match=r"^no deciding metric is comparable") as caught:
        checks_of(run({"a": 1.0}, version=2), GateRules(), run({"a": 1.0}))
    assert caught.value.hint == (
        "score both runs with the same metrics, or gate on an informational one with -m"
    )


def test_run_without_judges_needs_no_calibration(run: MakeRun):
    checks = checks_of(run(cases(2)), GateRules(require_calibration=True))
    assert checks["calibration"].status == "passed"


@pytest.mark.parametrize("minimum", [-0.1, 1.1, float("nan")])
def test_impossible_pass_rate_is_refused(run: MakeRun, minimum: float):
    with pytest.raises(
        UsageError, match=f"pass rate is {minimum:g}, expected a number from 0 to 1"
    ):
        checks_of(run(cases(3)), GateRules(min_pass_rate=minimum))


def test_pass_rate_at_either_end_is_a_rule(run: MakeRun):
    check = checks_of(run(cases(3)), GateRules(min_pass_rate=1.0))["pass_rate"]
    assert check == GateCheck("pass_rate", "passed", "100.0% of 3 cases, expected at least 100.0%")
    check = checks_of(run(cases(3, failing=3)), GateRules(min_pass_rate=0.0))["pass_rate"]
    assert check == GateCheck("pass_rate", "passed", "0.0% of 3 cases, expected at least 0.0%")


def test_rules_without_any_score_fail(run: MakeRun):
    finished = run({"a": None, "b": None})
    checks = checks_of(finished, GateRules(thresholds={"recall": 0.0}, min_pass_rate=0.0))
    assert [(check.name, check.status, check.message) for check in checks.values()] == [
        ("scored", "failed", "no case has a verdict"),
        ("recall", "failed", "no case was scored"),
        ("pass_rate", "failed", "no case has a verdict"),
    ]


@pytest.mark.parametrize(
    ("missing", "names"),
    [(5, "u0, u1, u2, u3, u4"), (6, "u0, u1, u2, u3, u4 and 1 more")],
)
def test_first_cases_without_a_verdict_are_named(run: MakeRun, missing: int, names: str):
    finished = run({"a": 1.0} | {f"u{number}": None for number in range(missing)})
    check = checks_of(finished, GateRules(min_pass_rate=0.0))["scored"]
    share = f"{missing} of {missing + 1} cases have no verdict"
    assert (check.status, check.message) == ("failed", f"{share}: {names}")


def test_metric_that_the_run_lacks_is_an_error_that_lists_its_metrics(run: MakeRun):
    with pytest.raises(UsageError, match="'bleu' is not part of the run") as caught:
        checks_of(run(cases(3)), GateRules(thresholds={"bleu": 0.5}))
    assert caught.value.hint == "metrics of run-a: recall"


def informed(run: Run, **scores: CaseScore) -> Run:
    """The run with a score of an informational metric for some cases."""
    metric = MetricSpec(
        name="tone", version=1, params={}, threshold=None, scale=(0.0, 1.0), better="higher"
    )
    results = tuple(
        replace(result, scores=(*result.scores, scores[result.case]))
        if result.case in scores
        else result
        for result in run.cases
    )
    return replace(run, metrics=(*run.metrics, metric), cases=results)


def test_mean_of_the_cases_that_could_be_scored_does_not_pass_for_the_others(run: MakeRun):
    good = CaseScore(metric="tone", status="info", value=0.9)
    lost = CaseScore(metric="tone", status="unscored", reason="no response was recorded")
    idle = CaseScore(metric="tone", status="unscored", not_applicable=True)
    made = informed(run(cases(3)), **{"case-0": good, "case-1": lost, "case-2": idle})
    rules = GateRules(thresholds={"tone": 0.8})
    check = checks_of(made, rules)["tone"]
    assert (check.status, check.message) == (
        "failed",
        "mean 0.9 over 1 of 3 cases, expected at least 0.8; could not score case-1",
    )
    loose = GateRules(thresholds={"tone": 0.8}, allow_unscored=True)
    assert checks_of(made, loose)["tone"].status == "passed"
    # Nothing was lost since the baseline, and what does not apply needs no score.
    assert checks_of(replace(made, id="run-b"), rules, made)["tone"].status == "passed"
    before = informed(run(cases(3)), **{"case-0": good, "case-1": good, "case-2": idle})
    assert checks_of(replace(made, id="run-b"), rules, before)["tone"].status == "failed"
