"""Spans whose content AWS's OpenTelemetry distribution has moved into log records.

Where only the log records are left, what they hold is all that tells the part a span played.
"""

from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.conventions.convention import SpanRole, Tool
from carob.traces.mapping.decoding import loads, text
from carob.traces.mapping.tools import answer
from carob.traces.messages import events


def role(span: Span) -> SpanRole | None:
    """The part that the recorded output speaks of."""
    asked, told = (loads(side) for side in events.tool(span))
    if not isinstance(told, dict):
        return None
    if "generations" in told:
        return "model"
    if told.get("type") == "tool" or "tool_call_id" in told:
        return "tool"
    # A graph's node is told from the graph by the steps that it has left.
    whole = isinstance(asked, dict) and "messages" in asked and "remaining_steps" not in asked
    return "agent" if whole and "messages" in told else None


def tool(span: Span) -> Tool:
    """The call that the log record of a tool's span tells."""
    args, result = events.tool(span)
    found = None if result is None else answer(result)
    return Tool(_name(span, loads(result)), found.id if found else None, args, found)


def _name(span: Span, told: Json) -> str | None:
    named = text(told.get("name")) if isinstance(told, dict) else None
    return text(span.attributes.get("tool.name")) or named
