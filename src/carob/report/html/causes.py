"""The section of causes: what the failed cases have in common."""

from __future__ import annotations

from carob.analysis.causes import describe_cause, group_causes
from carob.report.html.parts import table
from carob.report.markup import Child, Markup, join, tag
from carob.schema import Run
from carob.schema.causes import Cause

_MAX_CAUSES = 50


def causes_section(run: Run) -> Markup | None:
    """Return the causes, the most frequent first; `None` if no case failed."""
    groups = group_causes(run.cases)
    if not groups:
        return None
    rows: list[list[Child]] = [
        [
            cause_text(group.cause),
            f"{group.cases:,}",
            ", ".join(group.examples),
        ]
        for group in groups[:_MAX_CAUSES]
    ]
    left = len(groups) - _MAX_CAUSES
    more = tag("p", f"And {left:,} more.") if left > 0 else None
    return join([table("Why cases failed", ["cause", "cases", "for example"], rows), more])


def cause_text(cause: Cause) -> Markup:
    """Return a cause in words, with its tool, argument or metric."""
    return join([describe_cause(cause), " ", tag("code", cause.subject)])
