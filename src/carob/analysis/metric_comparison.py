"""Compare one metric in two runs: test the differences and draw a conclusion."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

import msgspec

from carob.analysis import verdict_text
from carob.analysis.interval import at_ends, mean_interval, paired_differences
from carob.analysis.per_case import PairedColumns
from carob.analysis.power import cases_needed, smallest_detectable
from carob.analysis.rules import ComparisonRules
from carob.analysis.sign_flip import sign_flip_test
from carob.errors import EvaluationError
from carob.schema import Conclusion, Difference, Mean, MetricComparison, MetricSpec, PassCounts

_LARGEST = 1e100
"""The square of a larger score overflows to infinity."""


class MetricTest(NamedTuple):
    """The paired numbers of a metric and their p-value."""

    spec: MetricSpec
    deciding: bool
    columns: PairedColumns
    p: float
    passes: PassCounts | None


class FamilyOfTests(NamedTuple):
    """The tests among which a p-value was adjusted."""

    tests: int
    adjusted_p: float
    same_run: bool
    """Whether a run is compared with itself, so that no chance is involved."""


def run_test(
    spec: MetricSpec, columns: PairedColumns, passes: PairedColumns | None, *, deciding: bool
) -> MetricTest:
    """Test the differences of a metric."""
    sides = [side for side in (columns.before, columns.after) if side]
    if any(abs(end(side)) > _LARGEST for side in sides for end in (min, max)):
        raise EvaluationError(f"scores of {spec.name!r} exceed {_LARGEST:g}, too large to compare")
    p = sign_flip_test(columns.differences)
    counts = _pass_counts(passes) if passes and passes.before else None
    return MetricTest(spec, deciding, columns, p, counts)


def conclude(test: MetricTest, family: FamilyOfTests, rules: ComparisonRules) -> MetricComparison:
    """Turn a test into a verdict with its means, difference and confidence intervals."""
    if not test.columns.before:
        return _comparison(test, "inconclusive")
    before = _mean(test.columns.before, test.spec, rules.alpha)
    after = _mean(test.columns.after, test.spec, rules.alpha)
    margin = _margin(test.spec, before.value, after.value, rules)
    difference = _difference(test, margin, family, rules)
    verdict = _verdict(difference, test.spec, rules.alpha)
    if verdict != "inconclusive":
        difference = msgspec.structs.replace(difference, needed=None)
    return _comparison(test, verdict, before, after, difference)


def _comparison(
    test: MetricTest,
    verdict: Conclusion,
    before: Mean | None = None,
    after: Mean | None = None,
    difference: Difference | None = None,
) -> MetricComparison:
    comparison = MetricComparison(
        name=test.spec.name,
        deciding=test.deciding,
        better=test.spec.better,
        verdict=verdict,
        sentence="",
        cases=len(test.columns.before),
        before=before,
        after=after,
        difference=difference,
        passes=test.passes,
        lost=test.columns.lost,
        gained=test.columns.gained,
    )
    return msgspec.structs.replace(comparison, sentence=verdict_text.describe_metric(comparison))


def _difference(
    test: MetricTest, margin: float, family: FamilyOfTests, rules: ComparisonRules
) -> Difference:
    low, high = test.spec.scale
    before, after = test.columns.before, test.columns.after
    largest = max(map(abs, (max(before), min(before), max(after), min(after))))
    span = (largest or 1.0) if high is None else high - low
    sample = paired_differences(test.columns.differences, span)
    binary = at_ends(before, test.spec.scale) and at_ends(after, test.spec.scale)
    interval = equivalence_interval = (0.0, 0.0)
    if not family.same_run:
        interval = sample.interval(1 - rules.alpha)
        level = max(0.0, 1 - 2 * rules.alpha)
        equivalence_interval = sample.equivalence_interval(level, binary=binary)
    return Difference(
        value=sample.mean,
        interval=interval,
        equivalence_interval=equivalence_interval,
        margin=margin,
        p=test.p,
        adjusted_p=family.adjusted_p,
        detectable=smallest_detectable(sample, rules.alpha / family.tests, binary=binary),
        needed=cases_needed(sample, margin, rules.alpha, family.tests, binary=binary),
    )


def _verdict(difference: Difference, spec: MetricSpec, alpha: float) -> Conclusion:
    low, high = difference.equivalence_interval
    # Equivalence first: with thousands of cases a drop of 0.001 is significant and still does not
    # matter, because it is within the margin.
    if -difference.margin <= low and high <= difference.margin:
        return "equivalent"
    if difference.adjusted_p > alpha:
        return "inconclusive"
    return "improved" if (difference.value > 0) == (spec.better == "higher") else "regressed"


def _mean(values: Sequence[float], spec: MetricSpec, alpha: float) -> Mean:
    return Mean(
        value=fsum(values) / len(values), interval=mean_interval(values, 1 - alpha, spec.scale)
    )


def _margin(spec: MetricSpec, before: float, after: float, rules: ComparisonRules) -> float:
    low, high = spec.scale
    if spec.name in rules.margins:
        return rules.margins[spec.name]
    return rules.margin * ((abs(before) + abs(after)) / 2 if high is None else high - low)


def _pass_counts(columns: PairedColumns) -> PassCounts:
    differences = columns.differences
    return PassCounts(
        before=fsum(columns.before) / len(differences),
        after=fsum(columns.after) / len(differences),
        broke=sum(difference < 0 for difference in differences),
        fixed=sum(difference > 0 for difference in differences),
        p=sign_flip_test(differences),
    )
