"""Charts as SVG. The page's style sheet sets the colors; each chart has a text alternative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import CaseCounts, MetricSpec
from carob.schema.history import RunEntry

_WIDTH, _HEIGHT = 320, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 310, 12, 104
_BINS = 10


class AxisRange(NamedTuple):
    """The range of values on an axis."""

    low: float
    high: float

    def position(self, value: float) -> float:
        """Return the position on the axis, 0 to 1; values outside are clamped."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


class HistogramBin(NamedTuple):
    """A bar of a histogram."""

    low: float
    high: float
    sides: Counter[str]
    """The number of scores that passed, that failed, and that decide nothing."""


def proportions(counts: CaseCounts) -> Markup:
    """Return one bar, divided by the status of the cases."""
    decided = counts.failed + counts.errors + counts.unscored + counts.passed
    parts = [
        (name, number)
        for name, number in (
            ("passed", counts.passed),
            ("failed", counts.failed),
            ("unscored", counts.unscored),
            ("error", counts.errors),
            ("info", counts.total - decided),
        )
        if number
    ]
    bars: list[Markup] = []
    start = 0.0
    for name, number in parts:
        width = 1000 * number / counts.total
        bars.append(tag("rect", x=start, y=0, width=width, height=12, class_=f"fill-{name}"))
        start += width
    text = ", ".join(f"{number:,} {name}" for name, number in parts) or "no cases"
    return tag(
        "svg",
        bars,
        role="img",
        aria_label=text,
        class_="proportions",
        viewBox="0 0 1000 12",
        preserveAspectRatio="none",
    )


def histogram(values: Sequence[float], use: MetricSpec) -> Markup:
    """Return the distribution of a metric's scores, with its threshold."""
    span = _span(values, use)
    bins = _bins(values, span, use)
    most = max(bar.sides.total() for bar in bins)
    counts = "; ".join(
        f"{bar.sides.total():,} from {_number(bar.low)} to {_number(bar.high)}"
        for bar in bins
        if bar.sides
    )
    return _chart(
        f"Distribution of {use.name}: {count(len(values), 'score')}. {counts}.",
        [rect for bar in bins for rect in _bar(bar, most, span)],
        _threshold(use, span),
        _axes(_number(span.low), _number(span.high), f"{most:,}", "0"),
    )


def _span(values: Sequence[float], use: MetricSpec) -> AxisRange:
    low, high = use.scale
    low = min(low, min(values))
    highest = max(max(values), use.threshold or low)
    top = highest if high is None else max(high, highest)
    return AxisRange(low, top if top > low else low + 1)


def _bins(values: Sequence[float], span: AxisRange, use: MetricSpec) -> list[HistogramBin]:
    step = (span.high - span.low) / _BINS
    bins = [
        HistogramBin(span.low + step * index, span.low + step * (index + 1), Counter())
        for index in range(_BINS)
    ]
    for value in values:
        bins[min(int(span.position(value) * _BINS), _BINS - 1)].sides[_side(value, use)] += 1
    return bins


def _bar(bar: HistogramBin, most: int, span: AxisRange) -> Iterator[Markup]:
    """Yield the scores that did not pass, and on top of them those that did."""
    left, right = _across(span.position(bar.low)), _across(span.position(bar.high))
    base = float(_BOTTOM)
    for side, number in sorted(bar.sides.items()):
        height = max((_BOTTOM - _TOP) * number / most, 1.5)
        base -= height
        yield tag(
            "rect",
            x=left + 1,
            y=base,
            width=right - left - 2,
            height=height,
            class_=f"fill-{side}",
        )


def _side(value: float, use: MetricSpec) -> str:
    if use.threshold is None:
        return "info"
    reached = value <= use.threshold if use.better == "lower" else value >= use.threshold
    return "passed" if reached else "failed"


def _threshold(use: MetricSpec, span: AxisRange) -> Markup | None:
    if use.threshold is None:
        return None
    x = _across(span.position(use.threshold))
    return tag("line", x1=x, x2=x, y1=_TOP - 6, y2=_BOTTOM, class_="threshold")


def trend(name: str, runs: Sequence[RunEntry], span: AxisRange | None = None) -> Markup | None:
    """Return the mean of a metric over runs, oldest first; `None` for fewer than two runs."""
    means = [(run.created_at, run.means[name]) for run in runs if name in run.means]
    if len(means) < 2:
        return None
    values = [value for _, value in means]
    low, high = span or (min(values), max(values))
    axis = AxisRange(low, high if high > low else low + 1)
    points = [
        (_across(index / (len(means) - 1)), _up(axis.position(value)))
        for index, value in enumerate(values)
    ]
    return _chart(
        f"Mean of {name} over {count(len(means), 'run')}, "
        f"from {_number(values[0])} to {_number(values[-1])}.",
        tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_="line"),
        [tag("circle", cx=round(x, 1), cy=round(y, 1), r=2.5, class_="dot") for x, y in points],
        _axes(means[0][0][:10], means[-1][0][:10], _number(axis.high), _number(axis.low)),
    )


def _chart(text: str, *children: Child) -> Markup:
    return tag(
        "svg",
        children,
        role="img",
        aria_label=text,
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
    )


def _axes(left: str, right: str, top: str, bottom: str) -> list[Markup]:
    return [
        tag("line", x1=_LEFT, x2=_RIGHT, y1=_BOTTOM, y2=_BOTTOM, class_="axis"),
        tag("text", left, x=_LEFT, y=_BOTTOM + 16),
        tag("text", right, x=_RIGHT, y=_BOTTOM + 16, text_anchor="end"),
        tag("text", top, x=_LEFT - 4, y=_TOP + 8, text_anchor="end"),
        tag("text", bottom, x=_LEFT - 4, y=_BOTTOM, text_anchor="end"),
    ]


def _across(share: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * share


def _up(share: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * share


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
