from __future__ import annotations

import tracemalloc
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.analysis import summary
from carob.analysis.summary import percentile, sort_in_parts, summarise, verdict
from carob.schema import (
    Case,
    CaseCounts,
    CaseResult,
    CaseScore,
    Json,
    MetricSummary,
    ProfileVerdict,
    RunSummary,
    Status,
    SummaryGroup,
    Verdict,
)


def score(value: float | None, status: Status = "passed", metric: str = "recall") -> CaseScore:
    return CaseScore(metric=metric, status=status, value=value)


def result(
    case: str | None, *scores: CaseScore, status: Status = "passed", composite: float | None = None
) -> CaseResult:
    judgement = None
    if composite is not None:
        judgement = ProfileVerdict(profile="p", composite=composite, passed=True, reason="")
    return CaseResult(case=case, trace="t", status=status, scores=scores, judgement=judgement)


def test_empty_run_has_zero_counts_and_no_statistics():
    assert summarise([], {}) == RunSummary(cases=CaseCounts(), metrics={})


def test_every_status_of_cases_and_scores_is_counted():
    summary = summarise(
        [
            result("a", score(1.0)),
            result("b", score(0.0, "failed"), status="failed"),
            result("c", score(None, "unscored"), status="unscored"),
            result("d", score(None, "error"), status="error"),
        ],
        {},
    )
    assert summary.cases == CaseCounts(total=4, passed=1, failed=1, unscored=1, errors=1)
    assert summary.metrics["recall"] == MetricSummary(
        mean=0.5, min=0.0, p50=0.5, p95=0.95, max=1.0, passed=1, failed=1, unscored=1, errors=1
    )


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], "inconclusive"),
        (["passed", "passed"], "passed"),
        (["passed", "info"], "passed"),
        (["passed", "unscored"], "inconclusive"),
        (["passed", "error"], "inconclusive"),
        (["unscored", "info"], "inconclusive"),
        (["info", "info"], "informational"),
        (["failed", "info", "error"], "failed"),
    ],
)
def test_run_passes_only_if_cases_passed_and_none_is_undecided(
    statuses: list[Status], expected: Verdict
):
    summary = summarise([result(str(n), status=one) for n, one in enumerate(statuses)], {})
    assert summary.cases.total == len(statuses)
    assert verdict(summary) == expected


def test_metric_without_scores_has_no_statistics():
    summary = summarise([result("a", score(None, "unscored"))], {})
    assert summary.metrics["recall"] == MetricSummary(unscored=1)


def test_informational_metric_has_statistics_but_no_verdicts():
    summary = summarise([result("a", score(7.0, "info", "calls"))], {}).metrics["calls"]
    assert (summary.mean, summary.passed, summary.failed) == (7.0, 0, 0)


def test_distribution_matches_numpy_and_the_mean_sums_left_to_right():
    values = [0.1 * index % 1 for index in range(1000)]
    summary = summarise((result("a", score(value)) for value in values), {}).metrics["recall"]
    assert (summary.p50, summary.p95) == tuple(np.percentile(values, [50, 95]))
    total = 0.0
    for value in values:
        total += value
    assert summary.mean == total / 1000


def test_cases_are_grouped_by_agent_tag_and_labels():
    cases = {
        "a": Case(id="a", agents=("orders",), tags=("edge",), metadata={"phase": "preparation"}),
        "b": Case(id="b", agents=("orders", "returns"), metadata={"topic": 3, "phase": ["x"]}),
    }
    results = [result("a", score(1.0)), result("b", score(0.0), status="failed"), result(None)]
    groups = summarise(results, cases).groups
    assert [(group.by, group.value, group.cases.total) for group in groups] == [
        ("agent", "orders", 2),
        ("agent", "returns", 1),
        ("tag", "edge", 1),
        ("phase", "preparation", 1),
        ("phase", "x", 1),
        ("topic", "3", 1),
    ]
    assert groups[0].means == {"recall": 0.5}


def test_further_keys_group_after_the_usual_ones_and_never_twice():
    metadata: dict[str, Json] = {"agent": "x", "tag": "y", "team": "billing", "phase": "draft"}
    cases = {"a": Case(id="a", agents=("orders",), metadata=metadata)}
    groups = summarise([result("a")], cases, ["team", "agent", "phase", "tag"]).groups
    assert [(group.by, group.value, group.cases.total) for group in groups] == [
        ("agent", "orders", 1),
        ("phase", "draft", 1),
        ("team", "billing", 1),
    ]


def test_duplicate_tag_counts_a_case_once():
    cases = {"a": Case(id="a", tags=("edge", "edge"))}
    counts = CaseCounts(total=1, passed=1)
    assert summarise([result("a")], cases).groups == (
        SummaryGroup(by="tag", value="edge", cases=counts, means={}),
    )


def test_composites_are_averaged_over_cases_with_a_composite():
    cases = {"a": Case(id="a", agents=("orders",))}
    summary = summarise(
        [result("a", composite=4.0), result("b", composite=3.0), result("c")], cases
    )
    assert summary.composite == 3.5
    assert summary.groups[0].composite == 4.0


VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(sorted)


@given(VALUES, st.sampled_from([0.5, 0.95]))
def test_percentile_equals_numpy_bit_for_bit(ordered: list[float], share: float):
    assert percentile(ordered, share) == float(np.percentile(ordered, share * 100))


@pytest.mark.parametrize(
    ("ordered", "median"), [([3.0], 3.0), ([1.0, 2.0], 1.5), ([1.0, 2.0, 9.0], 2.0)]
)
def test_percentile_of_few_values(ordered: list[float], median: float):
    assert percentile(ordered, 0.5) == median


def test_percentile_lies_between_its_neighbours_on_either_side_of_their_middle():
    ordered = [0.0, 10.0, 20.0, 30.0, 40.0]
    assert [percentile(ordered, share) for share in (0.3, 0.35, 0.45)] == [12.0, 14.0, 18.0]


@given(st.lists(st.floats(allow_nan=False)), st.integers(1, 5))
def test_values_sorted_in_parts_are_those_of_sorted(values: list[float], part: int):
    ordered = array("d", values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "_PART", part)
        sort_in_parts(ordered)
    # As text, because 0.0 and -0.0 are equal.
    assert list(map(repr, ordered)) == list(map(repr, sorted(values)))


def test_values_are_sorted_in_little_more_memory_than_their_own():
    values = array("d", np.random.default_rng(4).random(200_000).tobytes())
    tracemalloc.start()
    try:
        sort_in_parts(values)
        assert tracemalloc.get_traced_memory()[1] < 3 * 8 * len(values)
    finally:
        tracemalloc.stop()


def test_attempts_at_a_case_are_counted_together():
    results = [
        result("a", status="passed"),
        result("a", status="failed"),
        result("a", status="error"),
        result("b", status="passed"),
        result("c", status="failed"),
        result("c", status="failed"),
        result(None, status="passed"),
        result(None, status="failed"),
    ]
    attempts = summarise(results, {}).attempts
    assert summarise([result(None), *results], {}).attempts == attempts
    assert attempts
    assert attempts.flaky == {"a": (1, 2)}
    assert [(rate.k, rate.cases, rate.any_passes, rate.all_pass) for rate in attempts.rates] == [
        (1, 2, 0.25, 0.25),
        (2, 2, 0.5, 0.0),
    ]
    assert not summarise([result("a"), result("b")], {}).attempts
