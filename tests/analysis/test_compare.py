from __future__ import annotations

import operator
import random
from array import array
from collections.abc import Callable, Mapping

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from carob.analysis.compare import compare
from carob.analysis.interval import paired_differences
from carob.analysis.multiple_tests import holm
from carob.analysis.per_case import Column, pair_columns
from carob.analysis.power import smallest_detectable
from carob.analysis.rules import ComparisonRules
from carob.errors import EvaluationError, UsageError
from carob.schema import AttemptCounts, CaseScore, Comparison, MetricSpec, Run
from carob.schema.comparison import FlakyCase, PassCounts
from carob.schema.outcome import Scale

MakeRun = Callable[..., Run]
DEFAULT = ComparisonRules()


def values(number: int, ease: float = 0.8, seed: int = 5) -> dict[str, float]:
    source = random.Random(seed)  # noqa: S311 - not a secret
    return {
        f"case-{n}": round(source.betavariate(8 * ease, 8 - 8 * ease), 3) for n in range(number)
    }


def shifted(before: Mapping[str, float], by: float, noise: float = 0.0) -> dict[str, float]:
    source = random.Random(11)  # noqa: S311 - not a secret
    moved = {case: value + by + source.gauss(0, noise) for case, value in before.items()}
    return {case: min(1.0, max(0.0, value)) for case, value in moved.items()}


def with_metric(run: Run, use: MetricSpec, value: float) -> Run:
    score = CaseScore(metric=use.name, status="info", value=value)
    cases = [msgspec.structs.replace(case, scores=(*case.scores, score)) for case in run.cases]
    return msgspec.structs.replace(run, metrics=(*run.metrics, use), cases=tuple(cases))


def test_pairing_reveals_differences_that_means_hide(run: MakeRun):
    before = values(30)
    after = shifted(before, -0.04, noise=0.08)
    comparison = compare(run(before), run(after, id="run-b"), DEFAULT)
    unpaired = stats.ttest_ind([*before.values()], [*after.values()]).pvalue
    (metric,) = comparison.metrics
    assert metric.difference
    assert unpaired > 0.15
    assert metric.difference.adjusted_p < 0.05
    assert metric.verdict == comparison.verdict == "regressed"


def test_levels_of_the_intervals_and_of_what_can_be_detected(run: MakeRun):
    before = values(40)
    after = shifted(before, -0.02, noise=0.05)
    (metric,) = compare(run(before), run(after, id="run-b"), DEFAULT).metrics
    sample = paired_differences([after[case] - before[case] for case in before], 1.0)
    difference = metric.difference
    assert difference
    assert difference.interval == pytest.approx(sample.interval(0.95))
    # Two one-sided tests at 5 % each.
    equivalence = sample.equivalence_interval(0.9, binary=False)
    assert difference.equivalence_interval == pytest.approx(equivalence)
    # The pass rate and the metric are a family of two tests.
    detectable = smallest_detectable(sample, 0.05 / 2, binary=False)
    assert difference.detectable == pytest.approx(detectable)


@pytest.mark.parametrize(("scale", "span"), [((0.0, None), 8.0), ((0.0, 10.0), 10.0)])
def test_equal_scores_of_two_runs_may_differ_by_what_the_scale_allows(
    run: MakeRun, scale: Scale, span: float
):
    scores = {f"case-{n}": 2.0 + n % 7 for n in range(30)}
    before, after = (run(scores, scale=scale, threshold=3.0, id=f"run-{n}") for n in "ab")
    (metric,) = compare(before, after, DEFAULT).metrics
    assert metric.difference
    expected = paired_differences([0.0] * 30, span).interval(0.95)
    assert metric.difference.interval == pytest.approx(expected)


@pytest.mark.parametrize(
    ("before", "after", "adjustment"),
    [
        ([1.0], [0.5], "westfall-young"),
        ([1.0, 0.5], [0.5, 0.5], "westfall-young"),
        ([1.0, 0.5], [0.5], "holm"),
        ([1.0], [0.5, 0.5, 0.5], "holm"),
        ([1.0, 0.5], [0.5, 0.5, 0.5], "holm"),
    ],
)
def test_cases_are_flipped_jointly_only_if_both_runs_tried_them_as_often(
    run: MakeRun, before: list[float], after: list[float], adjustment: str
):
    cases = [f"case-{n}" for n in range(4)]
    one, other = run(dict.fromkeys(cases, before)), run(dict.fromkeys(cases, after), id="run-b")
    assert compare(one, other, DEFAULT).adjustment == adjustment


@pytest.mark.parametrize("attempts", [1, 2])
def test_p_values_of_one_family_are_adjusted_together(run: MakeRun, attempts: int):
    before = values(40)
    after = {case: [value] * attempts for case, value in shifted(before, -0.02, noise=0.1).items()}
    comparison = compare(run(before), run(after, id="run-b"), DEFAULT)
    assert comparison.overall
    tests = [test.difference for test in (comparison.overall, *comparison.metrics)]
    p_values = [difference.p for difference in tests if difference]
    adjusted = [difference.adjusted_p for difference in tests if difference]
    bound = holm(p_values)
    if attempts > 1:
        assert adjusted == bound
    else:  # the two tests are correlated, which joint sign flips make use of
        assert all(map(operator.le, adjusted, bound))
        assert sum(adjusted) < sum(bound)


def test_comparison_without_a_deciding_metric_is_inconclusive(run: MakeRun):
    before = run(values(9), threshold=None, dataset="sha256:1")
    comparison = compare(before, run(values(9), threshold=None, id="run-b"), DEFAULT)
    assert comparison.verdict == "inconclusive"
    assert comparison.before.dataset == before.dataset != comparison.after.dataset


@pytest.mark.parametrize("attempts", [1, 2])
def test_passes_of_a_metric_are_its_own_and_not_those_of_the_case(run: MakeRun, attempts: int):
    def fail_cases(finished: Run) -> Run:
        cases = tuple(msgspec.structs.replace(case, status="failed") for case in finished.cases)
        return msgspec.structs.replace(finished, cases=cases)

    scores = {"a": [1.0] * attempts, "b": [0.0] * attempts}
    before, after = run(scores), fail_cases(run(scores, id="run-b"))
    comparison = compare(before, after, DEFAULT)
    (metric,) = comparison.metrics
    assert metric.passes == PassCounts(before=0.5, after=0.5, broke=0, fixed=0, p=1.0)
    assert comparison.overall
    assert comparison.overall.after
    assert comparison.overall.after.value == 0.0


def test_passes_at_different_thresholds_are_not_compared(run: MakeRun):
    before, after = run(values(9)), run(values(9), threshold=0.9, id="run-b")
    comparison = compare(before, after, ComparisonRules(alpha=0.01))
    assert [metric.passes for metric in comparison.metrics] == [None]
    assert comparison.alpha == 0.01


@pytest.mark.parametrize(
    ("rules", "message", "hint"),
    [
        (ComparisonRules(alpha=1.0), "alpha is 1, expected a number between 0 and 1", None),
        (ComparisonRules(alpha=1.5), "alpha is 1.5, expected a number between 0 and 1", None),
        (
            ComparisonRules(margin=1.0),
            "the margin is 1, expected a share of the scale, 0 to below 1",
            "0.05 is 5%; use METRIC=NUMBER for the metric's own units",
        ),
        (
            ComparisonRules(margins={"tone": 0.1}),
            "'tone' is not a metric that both runs share",
            "compared metrics: pass_rate, recall",
        ),
        (
            ComparisonRules(margins={"recall": 1.0}),
            "the margin of 'recall' is 1, expected less than its scale",
            "the scale is 0 to 1",
        ),
    ],
)
def test_rules_out_of_range_are_refused(
    run: MakeRun, rules: ComparisonRules, message: str, hint: str | None
):
    with pytest.raises(UsageError) as caught:
        compare(run({"a": 1.0}), run({"a": 1.0}, id="run-b"), rules)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_metric_without_a_case_in_both_runs_is_inconclusive(run: MakeRun):
    before = run({"a": 1.0, "b": None})
    (metric,) = compare(before, run({"a": None, "b": 1.0}, id="run-b"), DEFAULT).metrics
    assert (metric.verdict, metric.cases, metric.difference) == ("inconclusive", 0, None)


def test_run_is_equivalent_to_itself(run: MakeRun):
    same_run = run(values(4))
    comparison = compare(same_run, same_run, ComparisonRules(margin=0.0))
    assert comparison.verdict == "equivalent"
    assert comparison.overall
    assert comparison.overall.difference
    assert comparison.overall.difference.p == comparison.overall.difference.adjusted_p == 1.0
    assert comparison.overall.difference.interval == (0.0, 0.0)
    assert comparison.flips == ()


def test_few_equal_cases_do_not_prove_equivalence(run: MakeRun):
    cases = {f"case-{n}": 1.0 for n in range(8)}
    comparison = compare(run(cases), run(cases, id="run-b"), DEFAULT)
    assert comparison.overall
    assert comparison.overall.sentence == (
        "1 in both, too few cases to rule out a difference; 8 cases can detect differences of 0.847"
        " or more; about 257 would rule out a difference beyond 0.02"
    )
    many = {f"case-{n}": 1.0 for n in range(207)}
    assert compare(run(many), run(many, id="run-b"), DEFAULT).verdict == "equivalent"


def test_difference_within_the_margin_is_equivalent(run: MakeRun):
    before = values(400)
    after = shifted(before, -0.01, noise=0.02)
    runs = run(before, threshold=None), run(after, id="run-b", threshold=None)
    narrow, wide = (
        compare(*runs, ComparisonRules(margins={"recall": margin})).metrics[0]
        for margin in (0.005, 0.05)
    )
    assert (narrow.verdict, wide.verdict) == ("regressed", "equivalent")


def test_margin_is_a_share_of_the_scale_or_of_the_mean_if_unbounded(run: MakeRun):
    stars = compare(
        run({"a": 2.0}, scale=(1.0, 5.0)), run({"a": 4.0}, id="b", scale=(1.0, 5.0)), DEFAULT
    )
    seconds = compare(
        run({"a": 2.0}, scale=(0.0, None)), run({"a": 4.0}, id="b", scale=(0.0, None)), DEFAULT
    )
    assert [
        comparison.metrics[0].difference.margin
        for comparison in (stars, seconds)
        if comparison.metrics[0].difference
    ] == [
        pytest.approx(0.08),
        pytest.approx(0.06),
    ]


def test_where_lower_is_better_a_rise_is_a_regression(run: MakeRun):
    before = {f"case-{n}": 1.0 + n / 10 for n in range(20)}
    after = {case: value + 0.5 for case, value in before.items()}
    scale = (0.0, None)
    comparison = compare(
        run(before, better="lower", threshold=9.0, scale=scale),
        run(after, id="run-b", better="lower", threshold=9.0, scale=scale),
        DEFAULT,
    )
    assert comparison.metrics[0].verdict == "regressed"
    assert comparison.metrics[0].sentence.startswith(
        "rose from 1.95 to 2.45 (lower is better): +0.5,"
    )


def test_repeats_are_averaged_per_case(run: MakeRun):
    once = compare(run({"a": 1.0, "b": 0.0}), run({"a": 0.0, "b": 0.0}, id="b"), DEFAULT)
    often = compare(
        run({"a": [1.0] * 40, "b": [0.0] * 40}), run({"a": [0.0] * 40, "b": 0.0}, id="b"), DEFAULT
    )
    assert often.metrics[0].cases == 2
    assert often.metrics[0].difference == once.metrics[0].difference
    assert [row.k for row in often.reliability] == [1, 2, 4, 8, 16, 32, 40]


def test_informational_metric_is_compared_but_does_not_decide(run: MakeRun):
    use = MetricSpec("cost", 1, {}, None, (0.0, None), "lower")
    cases = {f"case-{n}": 1.0 for n in range(20)}
    before, after = with_metric(run(cases), use, 1.0), with_metric(run(cases, id="b"), use, 2.0)
    comparison = compare(before, after, DEFAULT)
    assert comparison.metrics[1].verdict == "regressed"
    assert comparison.verdict == "inconclusive"
    assert compare(before, after, ComparisonRules(deciding=["cost"])).verdict == "regressed"


def test_pass_rate_and_its_only_metric_count_as_one_test(run: MakeRun):
    before = {f"case-{n}": 1.0 for n in range(10)}
    after = before | {f"case-{n}": 0.0 for n in range(6)}
    comparison = compare(run(before), run(after, id="run-b"), DEFAULT)
    assert comparison.overall
    assert comparison.overall.difference
    assert comparison.overall.difference.adjusted_p == pytest.approx(2 * 0.5**6)
    assert comparison.verdict == "regressed"


def test_cases_scored_in_only_one_run_are_excluded_and_listed(run: MakeRun):
    comparison = compare(
        run({"a": 1.0, "b": None, "c": 0.5}), run({"a": 1.0, "b": 1.0, "c": None}, id="b"), DEFAULT
    )
    (metric,) = comparison.metrics
    assert (metric.cases, metric.lost, metric.gained) == (1, ("c",), ("b",))
    assert metric.sentence.endswith(
        ". Excluded: 1 case scored only before, 1 case scored only after"
    )


def test_without_cases_scored_in_both_runs_the_result_is_inconclusive(run: MakeRun):
    comparison = compare(run({"a": None}), run({"a": 1.0}, id="b"), DEFAULT)
    assert comparison.verdict == "inconclusive"
    assert comparison.metrics[0].difference is None
    assert comparison.metrics[0].sentence.startswith("no case was scored in both runs")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (ComparisonRules(alpha=0.0), "alpha is 0, expected a number between 0 and 1"),
        (
            ComparisonRules(margin=-0.1),
            "the margin is -0.1, expected a share of the scale, 0 to below 1",
        ),
        (
            ComparisonRules(margin=1.0),
            "the margin is 1, expected a share of the scale, 0 to below 1",
        ),
        (
            ComparisonRules(margins={"recall": 1.0}),
            "the margin of 'recall' is 1, expected less than its scale",
        ),
        (
            ComparisonRules(margins={"pass_rate": 1.0}),
            "the margin of 'pass_rate' is 1, expected less than its scale",
        ),
        (ComparisonRules(margins={"recal": 0.1}), "'recal' is not a metric that both runs share"),
        (ComparisonRules(deciding=["cost"]), "'cost' is not a metric that both runs share"),
    ],
)
def test_invalid_rules_are_an_error(run: MakeRun, rules: ComparisonRules, message: str):
    with pytest.raises(UsageError) as error:
        compare(run({"a": 1.0}), run({"a": 1.0}), rules)
    assert str(error.value) == message


def mirrored(comparison: Comparison) -> list[object]:
    opposite = {"regressed": "improved", "improved": "regressed"}
    values: list[object] = []
    for metric in comparison.metrics:
        assert metric.difference
        low, high = metric.difference.interval
        values += [
            opposite.get(metric.verdict, metric.verdict),
            metric.difference.p,
            -metric.difference.value,
            -high,
            -low,
        ]
    return values


def plain(comparison: Comparison) -> list[object]:
    values: list[object] = []
    for metric in comparison.metrics:
        assert metric.difference
        values += [
            metric.verdict,
            metric.difference.p,
            metric.difference.value,
            *metric.difference.interval,
        ]
    return values


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=14))
def test_swapping_the_runs_mirrors_the_result(run: MakeRun, pairs: list[tuple[float, float]]):
    before = run({f"case-{n}": value for n, (value, _) in enumerate(pairs)})
    after = run({f"case-{n}": value for n, (_, value) in enumerate(pairs)}, id="run-b")
    there, back = compare(before, after, DEFAULT), compare(after, before, DEFAULT)
    assert plain(there) == mirrored(back)


def test_result_is_independent_of_case_order(run: MakeRun):
    before, after = run(values(60)), run(shifted(values(60), 0.0, noise=0.1), id="run-b")
    turned = msgspec.structs.replace(before, cases=before.cases[::-1])
    encode = msgspec.json.encode
    assert encode(compare(before, after, DEFAULT)) == encode(compare(turned, after, DEFAULT))


def test_scores_that_overflow_are_an_error(run: MakeRun):
    huge, small = (run({"a": value}, scale=(0.0, None)) for value in (1e308, 1.0))
    with pytest.raises(EvaluationError, match="scores of 'recall' exceed 1e\\+100"):
        compare(huge, small, DEFAULT)


def test_negligible_differences_need_no_more_cases(run: MakeRun):
    tiny = run({"a": 5e-324}), run({"a": 1e-200}, id="run-b")
    (metric,) = compare(*tiny, ComparisonRules(margin=0.0)).metrics
    assert metric.difference
    assert metric.difference.needed is None


def test_improvement_is_stated_with_its_size_and_its_scope(run: MakeRun):
    before = {f"case-{n}": float(n >= 30) for n in range(40)}
    after = dict.fromkeys(before, 1.0)
    comparison = compare(run(before), run(after, id="run-b"), DEFAULT)
    (metric,) = comparison.metrics
    assert (comparison.verdict, metric.verdict) == ("improved", "improved")
    assert metric.sentence.startswith("rose from 0.25 to 1: +0.75,")
    assert "p < 0.0001" in metric.sentence
    assert comparison.sentence == "pass_rate and recall improved on 40 unchanged cases"
    assert (comparison.before.id, comparison.after.id) == ("run-a", "run-b")
    assert comparison.before.created_at == comparison.after.created_at == "2026-03-02T10:00:00Z"
    assert len(comparison.flips) == 30


def test_fall_is_an_improvement_where_lower_is_better(run: MakeRun):
    before = {f"case-{n}": 2.0 + n / 10 for n in range(20)}
    after = {case: value - 1.0 for case, value in before.items()}
    slow, fast = (
        run(values, id=id, better="lower", threshold=9.0, scale=(0.0, None))
        for id, values in (("run-a", before), ("run-b", after))
    )
    (metric,) = compare(slow, fast, DEFAULT).metrics
    assert metric.verdict == "improved"
    assert metric.sentence.startswith("fell from 2.95 to 1.95 (lower is better): −1,")


def test_repeated_cases_are_counted_and_the_flaky_ones_listed(run: MakeRun):
    before = run({"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [1.0, 1.0]})
    after = run({"a": [1.0, 1.0], "b": [1.0, 1.0], "c": [0.0, 0.0]}, id="run-b")
    comparison = compare(before, after, DEFAULT)
    assert comparison.flaky == (FlakyCase("a", AttemptCounts(1, 2), AttemptCounts(2, 2)),)
    assert [(row.k, row.cases, row.any_passes, row.all_pass) for row in comparison.reliability] == [
        (1, 3, (pytest.approx(5 / 6), pytest.approx(2 / 3)), (pytest.approx(5 / 6), 2 / 3)),
        (2, 3, (1.0, pytest.approx(2 / 3)), (pytest.approx(2 / 3), pytest.approx(2 / 3))),
    ]
    once = compare(run({"a": 1.0}), run({"a": 0.0}, id="run-b"), DEFAULT)
    assert (once.flaky, once.reliability) == ((), ())


def test_repeated_and_single_attempts_are_paired_by_case(run: MakeRun):
    before = run({"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.5, None], "d": None})
    after = run({"a": 1.0, "b": 0.5, "c": None, "d": 1.0}, id="run-b")
    (metric,) = compare(before, after, DEFAULT).metrics
    assert (metric.cases, metric.lost, metric.gained) == (2, ("c",), ("d",))
    assert metric.before
    assert metric.after
    assert (metric.before.value, metric.after.value) == (0.75, 0.75)


def test_changes_of_a_metric_and_of_the_dataset_are_named_with_their_effect(run: MakeRun):
    before = run({"a": 1.0}, dataset="sha256:1")
    after = run({"a": 1.0}, dataset="sha256:2", better="lower", scale=(0.0, 2.0), id="run-b")
    changes = compare(before, after, DEFAULT).changed_inputs
    assert {(change.what, change.name, change.field) for change in changes} == {
        ("metric", "recall", "scale"),
        ("metric", "recall", "better"),
        ("dataset", "support", "digest"),
    }
    assert all(change.effect for change in changes)


def test_attempts_that_lost_their_verdict_are_named(run: MakeRun):
    before = run({"a": [1.0] * 5, "b": [1.0] * 5, "c": 1.0})
    after = run({"a": [1.0, None, None, None, None], "b": [1.0] * 4, "c": 1.0}, id="run-b")
    (change,) = compare(before, after, DEFAULT).changed_inputs
    assert (change.what, change.name, change.before, change.after) == (
        "attempts",
        "1 case",
        "5 of 5 with a verdict",
        "1 of 5 with a verdict",
    )
    assert change.effect == "pass rates leave the others out"
    assert compare(before, before, DEFAULT).changed_inputs == ()
    single = run({"a": 1.0, "b": 1.0, "c": 1.0})
    (change,) = compare(single, after, DEFAULT).changed_inputs
    assert (change.before, change.after) == ("1 of 1 with a verdict", "1 of 5 with a verdict")
    same_share = run({"a": [1.0, None], "b": [None] * 3 + [1.0] * 3, "c": 1.0})
    less = run({"a": [1.0, None, None, 1.0], "b": [1.0, None], "c": 1.0}, id="run-b")
    assert compare(same_share, less, DEFAULT).changed_inputs == ()
    worse = run({"a": [1.0, None, None], "b": [1.0, None, None], "c": 1.0}, id="run-b")
    (change,) = compare(same_share, worse, DEFAULT).changed_inputs
    assert (change.name, change.before, change.after) == (
        "2 cases",
        "4 of 8 with a verdict",
        "2 of 6 with a verdict",
    )


def test_cases_that_broke_and_that_were_fixed_are_counted(run: MakeRun):
    before = run({"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0})
    after = run({"a": 0.0, "b": 1.0, "c": 1.0, "d": 0.0}, id="run-b")
    (metric,) = compare(before, after, DEFAULT).metrics
    assert metric.passes == PassCounts(before=0.75, after=0.5, broke=2, fixed=1, p=1.0)


def test_p_value_equal_to_alpha_is_significant(run: MakeRun):
    cases = [f"case-{n}" for n in range(6)]
    before, after = run(dict.fromkeys(cases, 1.0)), run(dict.fromkeys(cases, 0.0), id="run-b")
    p = 2 / 2**6  # all six flips in one direction
    assert compare(before, after, ComparisonRules(alpha=p)).verdict == "regressed"
    assert compare(before, after, ComparisonRules(alpha=p * 0.999)).verdict == "inconclusive"


def test_means_come_with_their_intervals(run: MakeRun):
    before = values(30)
    (metric,) = compare(run(before), run(shifted(before, -0.1), id="run-b"), DEFAULT).metrics
    assert metric.before
    expected = stats.t.interval(0.95, 29, metric.before.value, stats.sem([*before.values()]))
    assert metric.before.interval == pytest.approx(expected)


def test_columns_of_all_metrics_line_up_where_cases_have_no_number():
    def column(*numbers: float | None) -> Column:
        known = bytes(number is not None for number in numbers)
        return Column(array("d", (number or 0.0 for number in numbers)), known)

    names = ["a", "b", "c", "d"]
    pairs = pair_columns(
        names.__getitem__, column(0.5, None, 0.25, 1.0), column(1.0, 0.5, None, 1.0)
    )
    assert [*pairs.aligned] == [0.5, 0.0, 0.0, 0.0]
    assert [*pairs.differences] == [0.5, 0.0]
    assert (pairs.lost, pairs.gained) == (("c",), ("b",))
