"""The sentences of a comparison: one per metric, and one for the whole run."""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Alignment, Conclusion, Difference, Mean, MetricComparison


def describe_metric(metric: MetricComparison) -> str:
    """Say how a metric changed, and how certain that is."""
    before, after, difference = metric.before, metric.after, metric.difference
    if difference is None or before is None or after is None:
        return "no case was scored in both runs" + _excluded_cases(metric)
    if metric.verdict == "equivalent":
        text = _equivalent(before, after, difference)
    elif metric.verdict == "inconclusive":
        text = _inconclusive(metric.cases, before, after, difference)
    else:
        text = _significant(metric.better, before, after, difference)
    return text + _excluded_cases(metric)


def describe_run(verdict: Conclusion, metrics: Sequence[MetricComparison], cases: Alignment) -> str:
    """Say which metrics led to the verdict on the run."""
    if not cases.same:
        return "nothing can be compared: no case is the same in both runs"
    scope = f"on {cases.same:,} unchanged case{'' if cases.same == 1 else 's'}"
    names = [metric.name for metric in metrics if metric.deciding and metric.verdict == verdict]
    if not names:
        return f"no verdict: no metric with a threshold is comparable {scope}"
    if verdict == "equivalent":
        return f"no difference beyond the margin {scope}"
    return f"{_join_names(names)} {verdict} {scope}"


def _significant(better: str, before: Mean, after: Mean, difference: Difference) -> str:
    verb = "fell" if difference.value < 0 else "rose"
    lower = " (lower is better)" if better == "lower" else ""
    low, high = difference.interval
    return (
        f"{verb} from {_number(before.value)} to {_number(after.value)}{lower}:"
        f" {_signed(difference.value)}, confidence interval {_signed(low)} to {_signed(high)},"
        f" {_p_value(difference.adjusted_p)}"
    )


def _equivalent(before: Mean, after: Mean, difference: Difference) -> str:
    if difference.interval == (0.0, 0.0):
        return f"{_number(before.value)} in both: a run compared with itself"
    return f"{_before_and_after(before, after)}: no difference beyond {_number(difference.margin)}"


def _inconclusive(cases: int, before: Mean, after: Mean, difference: Difference) -> str:
    outlook = _detectable(cases, difference)
    if not difference.value:
        return f"{_number(before.value)} in both, too few cases to rule out a difference; {outlook}"
    change = f"{_before_and_after(before, after)} ({_signed(difference.value)})"
    return f"{change}, not significant ({_p_value(difference.adjusted_p)}); {outlook}"


def _before_and_after(before: Mean, after: Mean) -> str:
    return f"{_number(before.value)} before, {_number(after.value)} after"


def _detectable(cases: int, difference: Difference) -> str:
    """What this number of cases can show, and how many would be enough."""
    if difference.detectable is None:
        reach = f"{_count_cases(cases)} cannot detect any difference"
    else:
        size = _number(difference.detectable)
        reach = f"{_count_cases(cases)} can detect differences of {size} or more"
    if difference.needed is None:
        return reach
    if abs(difference.value) > difference.margin:
        return f"{reach}; about {difference.needed:,} would confirm a difference of this size"
    margin = _number(difference.margin)
    return f"{reach}; about {difference.needed:,} would rule out a difference beyond {margin}"


def _excluded_cases(metric: MetricComparison) -> str:
    parts = [
        f"{_count_cases(len(names))} scored only {when}"
        for names, when in ((metric.lost, "before"), (metric.gained, "after"))
        if names
    ]
    return f". Excluded: {', '.join(parts)}" if parts else ""


def _number(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{_number(abs(value))}"


def _p_value(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def _count_cases(number: int) -> str:
    return f"{number:,} case{'' if number == 1 else 's'}"


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
