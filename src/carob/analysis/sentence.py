"""What a person needs to know, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Alignment, Conclusion, Difference, Mean, MetricComparison


def metric(one: MetricComparison) -> str:
    """What happened to a metric, and how sure that is."""
    if one.difference is None or one.before is None or one.after is None:
        return "no case was scored in both runs" + _lost(one)
    if one.verdict == "equivalent":
        said = _equivalent(one.before, one.after, one.difference)
    elif one.verdict == "inconclusive":
        said = _inconclusive(one.cases, one.before, one.after, one.difference)
    else:
        said = _moved(one.better, one.before, one.after, one.difference)
    return said + _lost(one)


def whole(verdict: Conclusion, metrics: Sequence[MetricComparison], cases: Alignment) -> str:
    """What happened to the run."""
    on = f"on {_cases(cases.same)} that stayed the same"
    if not cases.same:
        return "nothing can be compared: no case is the same in both runs"
    deciding = [one.name for one in metrics if one.held and one.verdict == verdict]
    if not deciding:
        return f"nothing decides: no metric with a threshold is comparable {on}"
    if verdict == "equivalent":
        return f"no difference that matters {on}"
    if verdict == "inconclusive":
        return f"{_names(deciding)} could not be told from chance {on}"
    return f"{_names(deciding)} {verdict} {on}"


def number(value: float) -> str:
    """A number as people write it: three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def probability(p: float) -> str:
    """A p-value; below a ten-thousandth nobody asks."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def _moved(better: str, before: Mean, after: Mean, found: Difference) -> str:
    fell = found.value < 0
    lower = ", and lower is better" if better == "lower" else ""
    return (
        f"{'fell' if fell else 'rose'} from {number(before.value)} to {number(after.value)}{lower}"
        f" ({_signed(found.value)}, somewhere from {_signed(found.interval[0])} to"
        f" {_signed(found.interval[1])}; {probability(found.adjusted_p)})"
    )


def _equivalent(before: Mean, after: Mean, found: Difference) -> str:
    if found.interval == (0.0, 0.0):
        return f"{number(before.value)} in both, which are the same run"
    return (
        f"{number(before.value)} before, {number(after.value)} after: no difference beyond"
        f" {number(found.margin)}"
    )


def _inconclusive(cases: int, before: Mean, after: Mean, found: Difference) -> str:
    if found.value:
        seen = f"{number(before.value)} before, {number(after.value)} after"
        chance = f"may be chance ({probability(found.adjusted_p)})"
        return f"{seen} ({_signed(found.value)}), which {chance}; {_sight(cases, found)}"
    return f"{number(before.value)} in both, on too few cases to be sure; {_sight(cases, found)}"


def _sight(cases: int, found: Difference) -> str:
    if found.detectable is None:
        return f"{_cases(cases)} cannot show any difference{_more(found)}"
    return f"{_cases(cases)} show differences from {number(found.detectable)} on{_more(found)}"


def _more(found: Difference) -> str:
    if found.needed is None:
        return ""
    if abs(found.value) > found.margin:
        return f", about {found.needed:,} would show this one if it is real"
    return f", about {found.needed:,} would show that none is beyond {number(found.margin)}"


def _lost(one: MetricComparison) -> str:
    parts = [
        f"{_cases(len(names))} scored only {when}"
        for names, when in ((one.lost, "before"), (one.gained, "after"))
        if names
    ]
    return f". {' and '.join(parts)} left out" if parts else ""


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{number(abs(value))}"


def _cases(number: int) -> str:
    return f"{number:,} case{'' if number == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
