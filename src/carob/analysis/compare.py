"""Compare two runs, and decide whether their difference is statistically significant.

Every case is compared with itself. Attempts at the same case are averaged first, so that the sample
size is the number of cases. docs/design/gate.md explains the method and how sound it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from carob.analysis import verdict_text
from carob.analysis.align import AlignedRuns, align
from carob.analysis.flips import find_flips
from carob.analysis.metric_comparison import FamilyOfTests, MetricTest, conclude, run_test
from carob.analysis.multiple_tests import holm, step_down
from carob.analysis.per_case import count_attempts, pair_columns, pass_rates, score_columns
from carob.analysis.repeats import is_flaky, reliability
from carob.analysis.rules import PASS_RATE, ComparisonRules
from carob.analysis.score_table import CaseNumbers, ScoreTable
from carob.schema import (
    Adjustment,
    AttemptCounts,
    ComparedRun,
    Comparison,
    Conclusion,
    FlakyCase,
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
    cases = CaseNumbers()
    return compare_tables(ScoreTable(before, cases), ScoreTable(after, cases), rules)


def compare_tables(before: ScoreTable, after: ScoreTable, rules: ComparisonRules) -> Comparison:
    """Compare two runs, read with the same numbers of cases."""
    aligned = align(before, after)
    scales = {name: spec.scale for name, spec in aligned.specs.items()}
    rules.check({PASS_RATE: (0.0, 1.0), **scales})
    tests = [*_run_tests(aligned, rules)]
    adjustment = _choose_adjustment(aligned)
    same_run = before.run.id == after.run.id
    metrics = [*_conclude_all(tests, rules, adjustment, same_run=same_run)]
    overall = metrics.pop(0) if aligned.verdicts else None
    deciding = [metric for metric in (overall, *metrics) if metric and metric.deciding]
    verdict = _overall_verdict(deciding)
    repeats = _Repeats(aligned)
    return Comparison(
        before=_compared_run(before.run),
        after=_compared_run(after.run),
        alpha=rules.alpha,
        adjustment=adjustment,
        verdict=verdict,
        sentence=verdict_text.describe_run(verdict, deciding, aligned.cases),
        cases=aligned.cases,
        changed_inputs=aligned.changed_inputs,
        overall=overall,
        metrics=tuple(metrics),
        flips=find_flips(aligned, aligned.specs) if aligned.verdicts else (),
        flaky=tuple(repeats.flaky),
        reliability=reliability(repeats.tally),
    )


class _Repeats:
    """The attempts at cases that were repeated; nothing if none was."""

    def __init__(self, aligned: AlignedRuns) -> None:
        self.tally = Counter[tuple[AttemptCounts, AttemptCounts]]()
        self.flaky: list[FlakyCase] = []
        before, after = aligned.before, aligned.after
        tables = [side.table for side in (before, after) if side.table.repeated]
        compared = aligned.pairs if aligned.verdicts else ()
        if not any(table.attempts(number) > 1 for table in tables for number in compared):
            return
        for position, number in enumerate(aligned.pairs):
            both = (
                count_attempts(before.table, number, before.statuses),
                count_attempts(after.table, number, after.statuses),
            )
            self.tally[both] += 1
            if any(map(is_flaky, both)):
                case = FlakyCase(case=aligned.name(position), before=both[0], after=both[1])
                self.flaky.append(case)


def _run_tests(aligned: AlignedRuns, rules: ComparisonRules) -> Iterator[MetricTest]:
    """Test the pass rate first, then the metrics in their order."""
    before, after, pairs = aligned.before, aligned.after, aligned.pairs
    if aligned.verdicts:
        old, new = (pass_rates(side.table, pairs, side.statuses) for side in (before, after))
        yield run_test(_PASS_RATE, pair_columns(aligned.name, old, new), None, deciding=True)
    for name, spec in aligned.specs.items():
        old, new = (score_columns(side.table, name, pairs) for side in (before, after))
        values = pair_columns(aligned.name, old.values, new.values)
        same_passing = name in aligned.same_threshold and spec.threshold is not None
        passes = pair_columns(aligned.name, old.passes, new.passes) if same_passing else None
        deciding = spec.threshold is not None or name in rules.deciding
        yield run_test(spec, values, passes, deciding=deciding)


def _choose_adjustment(aligned: AlignedRuns) -> Adjustment:
    """Joint sign flips require that before and after are exchangeable in every case. With three
    attempts before and one after they are not: the mean of three varies less."""
    before, after = aligned.before.table, aligned.after.table
    if not before.repeated and not after.repeated:
        return "westfall-young"
    exchangeable = all(before.attempts(case) == after.attempts(case) for case in aligned.pairs)
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
