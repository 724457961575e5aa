from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec import structs

from carob.analysis.leaderboard import rank_runs
from carob.errors import EvaluationError, UsageError
from carob.report.leaderboard import format_leaderboard
from carob.schema import CaseResult, ProfileVerdict, Run
from carob.schema.outcome import Scale
from carob.schema.run import CaseCounts, CaseScore, MetricSpec, RunSummary

SCALES: dict[str, Scale] = {"quality": (0.0, 1.0), "cost": (0.0, None), "latency": (0.0, None)}


def spec(name: str, threshold: float | None = None) -> MetricSpec:
    better = "higher" if name == "quality" else "lower"
    return MetricSpec(
        name=name, version=1, params={}, threshold=threshold, scale=SCALES[name], better=better
    )


def make_run(
    name: str, *, passed: list[bool], digest: str | None = "d", **scores: Sequence[float | None]
) -> Run:
    cases = tuple(
        CaseResult(
            case=f"case-{index}",
            trace=f"t-{index}",
            status="passed" if good else "failed",
            scores=tuple(
                CaseScore(metric=metric, status="info", value=values[index])
                for metric, values in scores.items()
            ),
            digest=digest,
        )
        for index, good in enumerate(passed)
    )
    return Run(
        id=f"run-{name}",
        created_at="2026-03-02T09:00:00Z",
        verdict="failed",
        dataset=None,
        metrics=tuple(map(spec, scores)),
        cases=cases,
        summary=RunSummary(cases=CaseCounts(), metrics={}),
    )


def share(number: int, total: int = 40) -> list[bool]:
    return [index < number for index in range(total)]


def test_runs_without_a_significant_difference_share_a_rank():
    runs = {
        "good": make_run("good", passed=share(38)),
        "fair": make_run("fair", passed=share(36)),
        "poor": make_run("poor", passed=share(10)),
    }
    board = rank_runs(runs)
    assert [(run.name, run.rank) for run in board.runs] == [("good", 1), ("fair", 1), ("poor", 3)]
    assert [run.difference for run in board.runs] == [None, pytest.approx(-0.05), -0.7]
    assert board.runs[2].p is not None
    assert board.runs[2].p < 0.001
    assert (board.metric, board.cases, board.left_out) == ("pass_rate", 40, 0)


def test_p_value_equal_to_alpha_separates_two_ranks():
    runs = {
        "good": make_run("good", passed=share(6, 6)),
        "poor": make_run("poor", passed=share(0, 6)),
    }
    p = 2 / 2**6  # all six cases differ in one direction
    assert [run.rank for run in rank_runs(runs, alpha=p).runs] == [1, 2]
    assert [run.rank for run in rank_runs(runs, alpha=p * 0.999).runs] == [1, 1]


def test_equal_runs_are_rarely_told_apart():
    """Ten runs of the same agent: 45 pairs, and an adjustment over all of them."""
    source, false_alarms = random.Random(5), 0  # noqa: S311 - not a secret
    for _ in range(40):
        runs = {
            f"r{number}": make_run(f"{number}", passed=[source.random() < 0.7 for _ in range(30)])
            for number in range(10)
        }
        false_alarms += any(run.rank > 1 for run in rank_runs(runs).runs)
    assert false_alarms <= 5  # at most 5 % are expected, so 2 of 40


def test_cheaper_or_faster_run_is_efficient_although_it_is_not_the_best():
    flat = [0.01] * 20
    runs = {
        "best": make_run("a", passed=share(20, 20), cost=flat, latency=[2.0] * 20),
        "cheap": make_run("b", passed=share(12, 20), cost=[0.001] * 20, latency=[2.0] * 20),
        "useless": make_run("c", passed=share(10, 20), cost=flat, latency=[3.0] * 20),
    }
    board = rank_runs(runs)
    assert {run.name: run.efficient for run in board.runs} == {
        "best": True,
        "cheap": True,
        "useless": False,
    }
    assert [(run.run, run.latency) for run in board.runs] == [
        ("run-a", 2.0),
        ("run-b", 2.0),
        ("run-c", 3.0),
    ]
    assert board.runs[0].cost == pytest.approx(0.01)


def test_unknown_price_is_neither_better_nor_worse():
    runs = {
        "best": make_run("a", passed=share(20, 20), cost=[0.01] * 20),
        "unpriced": make_run("b", passed=share(10, 20)),
    }
    assert [run.efficient for run in rank_runs(runs).runs] == [True, True]


def test_price_that_is_unknown_for_one_case_is_unknown_for_the_run():
    costs: list[float | None] = [0.01] * 19 + [None]
    runs = {
        "best": make_run("a", passed=share(20, 20), cost=[0.02] * 20),
        "partly": make_run("b", passed=share(10, 20), cost=costs),
    }
    best, partly = rank_runs(runs).runs
    assert best.cost == pytest.approx(0.02)
    assert partly.cost is None


def test_runs_are_compared_in_what_is_known_of_both():
    runs = {
        "best": make_run("a", passed=share(20, 20), latency=[1.0] * 20),
        "slow": make_run("b", passed=share(10, 20), latency=[2.0] * 20),
        "same": make_run("c", passed=share(20, 20), latency=[1.0] * 20),
    }
    assert {run.name: run.efficient for run in rank_runs(runs).runs} == {
        "best": True,
        "slow": False,  # no price is known
        "same": True,  # as good, but not better
    }


def test_metric_with_lower_is_better_ranks_the_lowest_first():
    runs = {
        "slow": make_run("a", passed=share(9, 9), latency=[4.0] * 9),
        "fast": make_run("b", passed=share(9, 9), latency=[1.0] * 9),
    }
    board = rank_runs(runs, metric="latency")
    assert [(run.name, run.rank) for run in board.runs] == [("fast", 1), ("slow", 2)]
    assert board.better == "lower"


def test_cases_that_separate_come_with_the_number_of_each_run():
    runs = {
        "a": make_run("a", passed=[True, True, False]),
        "b": make_run("b", passed=[True, False, True]),
    }
    board = rank_runs(runs)
    assert [(item.case, item.values) for item in board.separating] == [
        ("case-1", (1.0, 0.0)),
        ("case-2", (0.0, 1.0)),
    ]


def test_changed_cases_are_left_out():
    changed = make_run("b", passed=share(2, 3), digest="other")
    with pytest.raises(EvaluationError, match="no case has a pass_rate in every run"):
        rank_runs({"a": make_run("a", passed=share(2, 3)), "b": changed})


def test_value_of_a_run_is_its_mean_over_the_shared_cases():
    runs = {"a": make_run("a", passed=share(1, 4)), "b": make_run("b", passed=share(3, 4))}
    board = rank_runs(runs)
    assert [(run.name, run.value, run.difference) for run in board.runs] == [
        ("b", 0.75, None),
        ("a", 0.25, -0.5),
    ]


def test_case_without_a_fingerprint_is_not_taken_for_the_same():
    runs = {name: make_run(name, passed=share(2, 3), digest=None) for name in "ab"}
    with pytest.raises(EvaluationError, match="no case has a pass_rate in every run"):
        rank_runs(runs)


def test_pass_rates_by_different_rules_are_named():
    def decided(name: str, *metrics: MetricSpec) -> Run:
        return structs.replace(make_run(name, passed=share(2, 3)), metrics=metrics)

    strict = decided("a", spec("quality", 0.9), spec("cost"))
    loose = decided("b", spec("quality", 0.1), spec("latency", 900.0))
    board = rank_runs({"a": strict, "b": loose})
    # Not `cost`: it has no threshold in any run, so that it decides nothing.
    assert board.different_rules == ("latency (uses)", "quality (threshold)")
    assert "pass rates by different rules: latency (uses), quality (threshold)" in (
        format_leaderboard(board)
    )
    assert rank_runs({"a": strict, "b": strict}).different_rules == ()


def test_profiles_that_differ_between_runs_are_named():
    def judged(name: str, profile: str) -> Run:
        run = make_run(name, passed=share(2, 3), quality=[1.0] * 3)
        verdict = ProfileVerdict(profile=profile, composite=None, passed=True, reason="")
        cases = tuple(structs.replace(case, judgement=verdict) for case in run.cases)
        return structs.replace(run, cases=cases)

    runs = {"a": judged("a", "strict"), "b": judged("b", "loose")}
    assert rank_runs(runs).different_rules == ("profiles",)
    assert rank_runs(runs, metric="quality").different_rules == ()


def test_metric_that_a_run_lacks_is_refused():
    runs = {
        "a": make_run("a", passed=share(2, 3), quality=[1.0] * 3, cost=[0.1] * 3),
        "b": make_run("b", passed=share(2, 3), cost=[0.2] * 3),
    }
    with pytest.raises(UsageError, match="'quality' is not a metric that all runs share") as caught:
        rank_runs(runs, metric="quality")
    assert caught.value.hint == "shared: pass_rate, cost"


def test_difference_to_the_best_run_comes_with_its_interval():
    board = rank_runs(
        {"good": make_run("good", passed=share(38)), "poor": make_run("poor", passed=share(10))}
    )
    best, poor = board.runs
    assert best.difference_interval is None
    assert poor.difference_interval is not None
    low, high = poor.difference_interval
    assert -1 <= low < -0.7 < high < 0


def on_scale(scale: Scale, values: dict[str, list[float]]) -> dict[str, Run]:
    """Runs with a metric where higher is better."""
    use = MetricSpec(
        name="quality", version=1, params={}, threshold=None, scale=scale, better="higher"
    )
    return {
        name: structs.replace(
            make_run(name, passed=share(len(scores), len(scores)), quality=scores), metrics=(use,)
        )
        for name, scores in values.items()
    }


@pytest.mark.parametrize(
    ("scale", "best", "other", "widest"),
    [
        ((1.0, 5.0), [5.0, 5.0], [1.0, 1.0], 4.0),  # no two scores differ by more than the scale
        ((0.0, None), [900.0, 899.0], [3.0, 5.0], 900.0),  # nor, without an end, by the largest
        ((0.0, None), [0.0, 0.0], [0.0, 0.0], 1.0),
    ],
)
def test_interval_of_a_difference_stays_within_what_scores_can_differ(
    scale: Scale, best: list[float], other: list[float], widest: float
):
    board = rank_runs(on_scale(scale, {"a": best, "b": other}), metric="quality")
    difference, interval = board.runs[1].difference, board.runs[1].difference_interval
    assert difference is not None
    assert interval is not None
    assert -widest <= interval[0] <= difference <= interval[1] <= widest


def test_latency_counts_where_no_run_knows_its_cost():
    runs = {
        "fast": make_run("a", passed=share(20, 20), latency=[1.0] * 20),
        "slow": make_run("b", passed=share(20, 20), latency=[2.0] * 20),
    }
    assert {run.name: run.efficient for run in rank_runs(runs).runs} == {
        "fast": True,
        "slow": False,
    }


def test_leaderboard_of_one_run_is_refused():
    with pytest.raises(UsageError, match="a leaderboard needs at least two runs"):
        rank_runs({"a": make_run("a", passed=share(2, 3))})
