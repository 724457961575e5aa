"""The section of changes: the comparison with another run."""

from __future__ import annotations

from collections.abc import Mapping

from carob.report.comparison import changed_inputs, compared_metrics, signed_number
from carob.report.html.parts import breakable, number, stamp, table
from carob.report.markup import Child, Markup, join, tag
from carob.schema import Run
from carob.schema.comparison import Comparison, Flip, MetricComparison

_MAX_FLIPS = 200


def changes_section(comparison: Comparison, run: Run) -> Markup:
    """Return the verdict, the metrics, and the cases that flipped."""
    flipped = {flip.case for flip in comparison.flips[:_MAX_FLIPS]}
    anchors = {
        result.case: f"#case-{index}"
        for index, result in enumerate(run.cases, 1)
        if result.case in flipped
    }
    flips = [_flip(flip, anchors) for flip in comparison.flips[:_MAX_FLIPS]]
    left = len(comparison.flips) - _MAX_FLIPS
    head: list[Child] = ["case", "before", "after", "reason"]
    return join(
        [
            tag("p", tag("strong", comparison.verdict), ": ", comparison.sentence),
            _metrics(comparison),
            _changed_inputs(comparison),
            table("Flipped cases", head, flips) if flips else tag("p", "No cases flipped."),
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ]
    )


def _metrics(comparison: Comparison) -> Markup:
    head: list[Child] = ["metric", "before", "after", "difference", "verdict", "summary"]
    return table(
        f"Compared with run {comparison.before.id}, {comparison.before.created_at}",
        head,
        [_metric(metric) for metric in compared_metrics(comparison)],
    )


def _changed_inputs(comparison: Comparison) -> Markup | None:
    items = [tag("li", change) for change in changed_inputs(comparison)]
    return join([tag("h3", "Differs between the runs"), tag("ul", items)]) if items else None


def _metric(metric: MetricComparison) -> list[Child]:
    difference = signed_number(metric.difference.value) if metric.difference else "–"
    return [
        breakable(metric.name),
        number(metric.before.value if metric.before else None),
        number(metric.after.value if metric.after else None),
        difference,
        metric.verdict,
        metric.sentence,
    ]


def _flip(flip: Flip, anchors: Mapping[str, str]) -> list[Child]:
    anchor = anchors.get(flip.case)
    name = tag("a", flip.case, href=anchor) if anchor else flip.case
    reasons = [f"{score.metric}: {score.reason}" for score in flip.scores if score.reason]
    return [name, stamp(flip.before), stamp(flip.after), "; ".join(reasons)]
