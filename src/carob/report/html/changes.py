"""What changed against another run."""

from __future__ import annotations

from carob.report.comparison import changed_inputs, compared_metrics, signed_number
from carob.report.html.parts import named, number, stamp, table
from carob.report.markup import Child, Markup, join, tag
from carob.schema import Run
from carob.schema.comparison import Comparison, Flip, MetricComparison

_MOST = 200


def flip_section(comparison: Comparison, run: Run) -> Markup:
    """The sentence that a person needs, the metrics, and the cases that flipped."""
    anchors = {one.case: f"#case-{index}" for index, one in enumerate(run.cases, 1)}
    flips = [_flip(one, anchors) for one in comparison.flips[:_MOST]]
    left = len(comparison.flips) - _MOST
    head: list[Child] = ["case", "before", "after", "why"]
    return join(
        [
            tag("p", tag("strong", comparison.verdict), ": ", comparison.sentence),
            _metrics(comparison),
            _moved(comparison),
            table("Cases that flipped", head, flips) if flips else tag("p", "No case flipped."),
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ]
    )


def _metrics(comparison: Comparison) -> Markup:
    head: list[Child] = ["metric", "before", "after", "difference", "verdict", "meaning"]
    return table(
        f"Against run {comparison.before.id} of {comparison.before.created_at}",
        head,
        [_metric(one) for one in compared_metrics(comparison)],
    )


def _moved(comparison: Comparison) -> Markup | None:
    found = [tag("li", one) for one in changed_inputs(comparison)]
    return join([tag("h3", "Not the same in both runs"), tag("ul", found)]) if found else None


def _metric(one: MetricComparison) -> list[Child]:
    difference = signed_number(one.difference.value) if one.difference else "–"
    return [
        named(one.name),
        number(one.before.value if one.before else None),
        number(one.after.value if one.after else None),
        difference,
        one.verdict,
        one.sentence,
    ]


def _flip(one: Flip, anchors: dict[str | None, str]) -> list[Child]:
    anchor = anchors.get(one.case)
    name = tag("a", one.case, href=anchor) if anchor else one.case
    why = [f"{score.metric}: {score.reason}" for score in one.scores if score.reason]
    return [name, stamp(one.before), stamp(one.after), "; ".join(why)]
