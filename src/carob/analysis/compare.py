"""Compare two runs, and decide whether their difference is statistically significant.

Every case is compared with itself. Attempts at the same case are averaged first, so that the sample
size is the number of cases. docs/design/gate.md explains the method and how sound it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.analysis import verdict_text
from carob.analysis.align import AlignedRuns, align
from carob.analysis.flips import find_flips
from carob.analysis.metric_comparison import FamilyOfTests, MetricTest, conclude, run_test
from carob.analysis.multiple_tests import holm, step_down
from carob.analysis.per_case import pair_columns, pass_rates, score_columns
from carob.analysis.repeats import count_attempts, flaky_cases, reliability
from carob.analysis.rules import PASS_RATE, ComparisonRules
from carob.schema import (
    Adjustment,
    ComparedRun,
    Comparison,
    Conclusion,
    MetricComparison,
    MetricSpec,
    Run,
)

_PASS_RATE = MetricSpec(
    name=PASS_RATE, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher"
)

_PRECEDENCE: tuple[Conclusion, ...] = ("regressed", "improved", "inconclusive", "equivalent")


def compare(before: Run, after: Run, rules: ComparisonRules) -> Comparison:
    """Compare two runs on the cases and metrics that are the same in both."""
    aligned = align(before, after)
    rules.check([PASS_RATE, *aligned.specs])
    tests = [*_run_tests(aligned, rules)]
    adjustment = _choose_adjustment(aligned)
    metrics = [*_conclude_all(tests, rules, adjustment, same_run=before.id == after.id)]
    overall = metrics.pop(0) if aligned.verdicts else None
    deciding = [metric for metric in (overall, *metrics) if metric and metric.deciding]
    verdict = _overall_verdict(deciding)
    pairs = aligned.pairs if aligned.verdicts else ()
    repeated = any(len(pair.before) > 1 or len(pair.after) > 1 for pair in pairs)
    tally = {
        pair.case: (count_attempts(pair.before), count_attempts(pair.after))
        for pair in (pairs if repeated else ())
    }
    return Comparison(
        before=_compared_run(before),
        after=_compared_run(after),
        alpha=rules.alpha,
        adjustment=adjustment,
        verdict=verdict,
        sentence=verdict_text.describe_run(verdict, deciding, aligned.cases),
        cases=aligned.cases,
        changed_inputs=aligned.changed_inputs,
        overall=overall,
        metrics=tuple(metrics),
        flips=tuple(find_flips(pairs, aligned.specs)),
        flaky=flaky_cases(tally),
        reliability=reliability(tally),
    )


def _run_tests(aligned: AlignedRuns, rules: ComparisonRules) -> Iterator[MetricTest]:
    """Test the pass rate first, then the metrics in their order."""
    names = [pair.case for pair in aligned.pairs]
    old, new = [pair.before for pair in aligned.pairs], [pair.after for pair in aligned.pairs]
    if aligned.verdicts:
        rates = pair_columns(names, pass_rates(old), pass_rates(new))
        yield run_test(_PASS_RATE, rates, None, deciding=True)
    before, after = score_columns(old, aligned.specs), score_columns(new, aligned.specs)
    for name, spec in aligned.specs.items():
        values = pair_columns(names, before[name].values, after[name].values)
        same_passing = name in aligned.same_threshold and spec.threshold is not None
        passes = (
            pair_columns(names, before[name].passes, after[name].passes) if same_passing else None
        )
        deciding = spec.threshold is not None or name in rules.deciding
        yield run_test(spec, values, passes, deciding=deciding)


def _choose_adjustment(aligned: AlignedRuns) -> Adjustment:
    """Joint sign flips require that before and after are exchangeable in every case. With three
    attempts before and one after they are not: the mean of three varies less."""
    exchangeable = all(len(pair.before) == len(pair.after) for pair in aligned.pairs)
    return "westfall-young" if exchangeable else "holm"


def _conclude_all(
    tests: Sequence[MetricTest], rules: ComparisonRules, adjustment: Adjustment, *, same_run: bool
) -> Iterator[MetricComparison]:
    """Conclude each test, with p-values adjusted within its family.

    Informational metrics cannot fail a gate, so they are a family of their own: adding ten of them
    must not make the deciding metrics less sensitive.
    """
    families = {
        deciding: _distinct([test for test in tests if test.deciding is deciding])
        for deciding in (True, False)
    }
    adjusted = {key: _adjust(family, adjustment) for key, family in families.items()}
    for test in tests:
        family = families[test.deciding]
        index = next((i for i, other in enumerate(family) if _same_numbers(test, other)), None)
        p = 1.0 if index is None else adjusted[test.deciding][index]
        yield conclude(test, FamilyOfTests(len(family), p, same_run), rules)


def _distinct(tests: Sequence[MetricTest]) -> list[MetricTest]:
    """Drop tests of the same numbers. If a single metric decides, it and the pass rate are one test
    and not two: counting both would double the p-value."""
    distinct: list[MetricTest] = []
    for test in tests:
        if test.columns.before and not any(_same_numbers(test, other) for other in distinct):
            distinct.append(test)
    return distinct


def _same_numbers(test: MetricTest, other: MetricTest) -> bool:
    left, right = test.columns, other.columns
    return left.before == right.before and left.after == right.after


def _adjust(family: Sequence[MetricTest], adjustment: Adjustment) -> list[float]:
    p_values = [test.p for test in family]
    if len(family) < 2 or adjustment == "holm":
        return holm(p_values)
    return step_down([test.columns.aligned for test in family], p_values)


def _overall_verdict(deciding: Sequence[MetricComparison]) -> Conclusion:
    """One regression outweighs any improvement, and an improvement outweighs open questions."""
    verdicts = {metric.verdict for metric in deciding}
    for verdict in _PRECEDENCE:
        if verdict in verdicts:
            return verdict
    return "inconclusive"


def _compared_run(run: Run) -> ComparedRun:
    return ComparedRun(id=run.id, created_at=run.created_at, dataset=run.dataset)
