"""May a run pass? Every rule becomes a check, and every check says why it ends as it does."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import fsum

import msgspec

from carob.analysis.align import by_case
from carob.analysis.calibrated import calibration_checks
from carob.analysis.columns import pass_rates, scores
from carob.errors import RefusedError, UsageError
from carob.schema import Calibration, Check, Comparison, GateRules, MetricComparison, MetricUse, Run
from carob.schema.scale import check_threshold

_SHOWN = 5


def without(run: Run, cases: Collection[str]) -> Run:
    """The run as if it had not had these cases."""
    kept = tuple(one for one in run.cases if one.case not in cases)
    return msgspec.structs.replace(run, cases=kept)


def checks(
    run: Run,
    rules: GateRules,
    baseline: Run | None,
    comparison: Comparison | None,
    calibrations: Sequence[Calibration] = (),
) -> Iterator[Check]:
    """Hold a run to the rules. A gate that checks nothing is an error, not a pass."""
    asked = comparison or rules.thresholds or rules.min_pass_rate is not None
    if not asked and not rules.calibrated:
        hint = "give --baseline, --threshold or --min-pass-rate, or write them into [gate]"
        raise UsageError("nothing to hold the run to", hint=hint)
    yield _scored(run, rules, baseline)
    if rules.calibrated:
        yield from calibration_checks(run, rules, calibrations)
    for name, threshold in rules.thresholds.items():
        yield _threshold(run, name, threshold)
    if rules.min_pass_rate is not None:
        yield _pass_rate(run, rules.min_pass_rate)
    if comparison:
        yield from _compared(comparison)


def passed(made: Sequence[Check], rules: GateRules) -> bool:
    """What failed fails; what is inconclusive fails if the rules are strict."""
    failing = {"failed", "inconclusive"} if rules.strict else {"failed"}
    return not any(one.status in failing for one in made)


def _scored(run: Run, rules: GateRules, baseline: Run | None) -> Check:
    """A case that has no verdict must not slip through, unless it had none before either."""
    open_cases, cases = _without_verdict(run), by_case(run)
    if len(open_cases) == len(cases):
        return Check("scored", "failed", "no case has a verdict")
    excused = set(_without_verdict(baseline)) if baseline else set[str]()
    missing = [case for case in open_cases if case not in excused]
    if missing and not rules.allow_unscored:
        number = f"{len(missing):,} of {len(cases):,} cases have"
        return Check("scored", "failed", f"{number} no verdict: {_listed(missing)}")
    known = len(cases) - len(open_cases)
    return Check("scored", "passed", f"{known:,} of {len(cases):,} cases have a verdict")


def _without_verdict(run: Run) -> list[str]:
    cases = by_case(run)
    rates = pass_rates(cases.values())
    return [case for case, rate in zip(cases, rates, strict=True) if rate is None]


def _threshold(run: Run, name: str, threshold: float) -> Check:
    use = _use(run, name)
    check_threshold(name, threshold, use.scale)
    column = scores([*by_case(run).values()], [name])[name].values
    values = [value for value in column if value is not None]
    if not values:
        return Check(name, "failed", "no case was scored")
    mean = fsum(values) / len(values)
    reached = mean >= threshold if use.better == "higher" else mean <= threshold
    bound = "at least" if use.better == "higher" else "at most"
    message = f"mean {mean:.4g} over {len(values):,} of {len(column):,} cases"
    status = "passed" if reached else "failed"
    return Check(name, status, f"{message}, expected {bound} {threshold:g}")


def _use(run: Run, name: str) -> MetricUse:
    for use in run.metrics:
        if use.name == name:
            return use
    hint = f"the metrics of {run.id} are {', '.join(use.name for use in run.metrics)}"
    raise UsageError(f"metric {name!r} is not part of the run", hint=hint)


def _pass_rate(run: Run, least: float) -> Check:
    if not 0 <= least <= 1:
        raise UsageError(f"the pass rate is {least:g}, expected a number from 0 to 1")
    rates = [rate for rate in pass_rates(by_case(run).values()) if rate is not None]
    if not rates:
        return Check("pass_rate", "failed", "no case has a verdict")
    rate = fsum(rates) / len(rates)
    message = f"{rate:.1%} of {len(rates):,} cases, expected at least {least:.1%}"
    return Check("pass_rate", "passed" if rate >= least else "failed", message)


def _compared(comparison: Comparison) -> Iterator[Check]:
    if not comparison.cases.same:
        hint = "make a baseline with the golden data of this run"
        raise RefusedError("no case is the same in the baseline", hint=hint)
    held = [one for one in (comparison.overall, *comparison.metrics) if one and one.held]
    if not any(one.cases for one in held):
        hint = "score both runs with the same metrics, or name one that informs with -m"
        raise RefusedError("nothing decides: no metric is comparable to the baseline", hint=hint)
    yield from map(_against_baseline, held)


def _against_baseline(one: MetricComparison) -> Check:
    name = f"{one.name} against the baseline"
    if one.verdict == "regressed":
        return Check(name, "failed", one.sentence)
    status = "inconclusive" if one.verdict == "inconclusive" else "passed"
    return Check(
        name, status, f"{one.verdict}: {one.sentence}" if status == "passed" else one.sentence
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
