"""Gate a run: every rule becomes a check with a status and the reason for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, isclose
from typing import Literal

from carob.analysis.calibration_gate import calibration_checks
from carob.analysis.per_case import count_attempts, pass_rates, score_columns
from carob.analysis.score_table import ScoreTable
from carob.errors import EvaluationError, UsageError
from carob.schema import (
    Calibration,
    Comparison,
    GateCheck,
    GateRules,
    MetricComparison,
    MetricSpec,
    Run,
)
from carob.schema.outcome import check_threshold

_SHOWN = 5
_ROUNDING = 1e-12
"""The relative error of a mean that is a matter of floating point alone."""


def gate_checks(
    table: ScoreTable,
    rules: GateRules,
    baseline: ScoreTable | None,
    comparison: Comparison | None,
    calibrations: Sequence[Calibration] = (),
) -> Iterator[GateCheck]:
    """Check a run against the rules. Raises `UsageError` if there is no rule to check, and
    `EvaluationError` for a run in which no metric was asked to decide."""
    has_rule = comparison or rules.thresholds or rules.min_pass_rate is not None
    if not has_rule and not rules.calibrated:
        hint = "pass --baseline, --threshold or --min-pass-rate, or set them in [gate]"
        raise UsageError("the gate has nothing to check", hint=hint)
    if table.run.verdict == "informational":
        hint = "score it again with a metric that has a threshold, or with a profile"
        raise EvaluationError(f"nothing was decided in {table.run.id}", hint=hint)
    yield _check_scored(table, rules, baseline)
    if rules.calibrated:
        yield from calibration_checks(table, rules, calibrations)
    for name, threshold in rules.thresholds.items():
        yield _check_mean(table, rules, baseline, name, threshold)
    if rules.min_pass_rate is not None:
        yield _check_pass_rate(table, rules.min_pass_rate)
    if comparison:
        yield from _check_comparison(comparison)


def gate_passes(checks: Sequence[GateCheck], rules: GateRules) -> bool:
    """Whether no check failed; inconclusive checks fail only if the rules are strict."""
    failing = {"failed", "inconclusive"} if rules.strict else {"failed"}
    return not any(check.status in failing for check in checks)


def _check_scored(table: ScoreTable, rules: GateRules, baseline: ScoreTable | None) -> GateCheck:
    """A case without a verdict must not slip through, unless the baseline has none for it either:
    an agent that crashes on half of the cases would otherwise keep its pass rate. So would one
    that crashes on most attempts at every case."""
    shares, cases = _incomplete_cases(table), len(table.numbers())
    unscored = sum(not share for share in shares.values())
    if unscored == cases:
        return GateCheck("scored", "failed", "no case has a verdict")
    excused = _incomplete_cases(baseline) if baseline else {}
    missing = [case for case, share in shares.items() if share < excused.get(case, 1.0)]
    if missing and not rules.allow_unscored:
        lacks = "attempts without a" if any(shares[case] for case in missing) else "no"
        names = _list_names([table.cases.names[case] for case in missing])
        message = f"{len(missing):,} of {cases:,} cases have {lacks} verdict: {names}"
        return GateCheck("scored", "failed", message)
    message = f"{cases - unscored:,} of {cases:,} cases have a verdict"
    if partly := len(shares) - unscored:
        message += f", {partly:,} of them with attempts that have none"
    return GateCheck("scored", "passed", message)


def _incomplete_cases(table: ScoreTable) -> dict[int, float]:
    """The share of attempts with a verdict, for the cases of which not every attempt has one."""
    numbers = table.numbers()
    if not table.repeated:
        known = pass_rates(table, numbers).known
        return {case: 0.0 for case, has in zip(numbers, known, strict=True) if not has}
    shares = ((case, _share_with_verdict(table, case)) for case in numbers)
    return {case: share for case, share in shares if share < 1}


def _share_with_verdict(table: ScoreTable, case: int) -> float:
    return count_attempts(table, case, table.statuses).total / table.attempts(case)


def _check_mean(
    table: ScoreTable, rules: GateRules, baseline: ScoreTable | None, name: str, threshold: float
) -> GateCheck:
    spec, numbers = _find_spec(table.run, name), table.numbers()
    check_threshold(name, threshold, spec.scale)
    column = score_columns(table, name, numbers).values
    values = column.known_values()
    if not values:
        return GateCheck(name, "failed", "no case was scored")
    mean = fsum(values) / len(values)
    passed = _reaches(mean, threshold, spec.better)
    bound = "at least" if spec.better == "higher" else "at most"
    message = f"mean {mean:.4g} over {len(values):,} of {len(column.values):,} cases"
    message += f", expected {bound} {threshold:g}"
    if not passed:
        return GateCheck(name, "failed", message)
    # The mean of one case would stand for a hundred in which the metric had nothing to score. A
    # metric without a threshold of its own leaves those cases their verdict.
    unknown = [number for number, known in zip(numbers, column.known, strict=True) if not known]
    unscored = [case for case in unknown if table.could_not_score(name, case)]
    new = [case for case in unscored if not (baseline and _is_unscored(baseline, name, case))]
    if new and not rules.allow_unscored:
        names = _list_names([table.cases.names[case] for case in new])
        return GateCheck(name, "failed", f"{message}; could not score {names}")
    return GateCheck(name, "passed", message)


def _is_unscored(table: ScoreTable, metric: str, case: int) -> bool:
    return metric in table.metrics and case in table and table.could_not_score(metric, case)


def _find_spec(run: Run, name: str) -> MetricSpec:
    for spec in run.metrics:
        if spec.name == name:
            return spec
    hint = f"metrics of {run.id}: {', '.join(spec.name for spec in run.metrics)}"
    raise UsageError(f"metric {name!r} is not part of the run", hint=hint)


def _check_pass_rate(table: ScoreTable, minimum: float) -> GateCheck:
    if not 0 <= minimum <= 1:
        raise UsageError(f"the minimum pass rate is {minimum:g}, expected a number from 0 to 1")
    rates = pass_rates(table, table.numbers()).known_values()
    if not rates:
        return GateCheck("pass_rate", "failed", "no case has a verdict")
    rate = fsum(rates) / len(rates)
    message = f"{rate:.1%} of {len(rates):,} cases, expected at least {minimum:.1%}"
    status = "passed" if _reaches(rate, minimum, "higher") else "failed"
    return GateCheck("pass_rate", status, message)


def _reaches(mean: float, bound: float, better: Literal["higher", "lower"]) -> bool:
    # The mean of 0.1, 0.2 and 0.3 is 0.19999999999999998 in binary fractions, and reaches 0.2.
    if isclose(mean, bound, rel_tol=_ROUNDING):
        return True
    return mean > bound if better == "higher" else mean < bound


def _check_comparison(comparison: Comparison) -> Iterator[GateCheck]:
    if not comparison.cases.same:
        hint = "create a baseline with the golden data of this run"
        raise EvaluationError("no case is the same in the baseline", hint=hint)
    deciding = [one for one in (comparison.overall, *comparison.metrics) if one and one.deciding]
    if not any(metric.cases for metric in deciding):
        hint = "score both runs with the same metrics, or gate on an informational one with -m"
        raise EvaluationError("no deciding metric is comparable to the baseline", hint=hint)
    yield from map(_check_against_baseline, deciding)


def _check_against_baseline(metric: MetricComparison) -> GateCheck:
    name = f"{metric.name} against the baseline"
    if metric.verdict == "regressed":
        return GateCheck(name, "failed", metric.sentence)
    if metric.verdict == "inconclusive":
        return GateCheck(name, "inconclusive", metric.sentence)
    return GateCheck(name, "passed", f"{metric.verdict}: {metric.sentence}")


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
