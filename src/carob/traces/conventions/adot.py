"""Spans whose content AWS's OpenTelemetry distribution has moved into log records.

Where only the log records are left, what they hold is all that tells the part a span played.
"""

from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.convention import SpanRole, ToolSpan
from carob.traces.mapping.tool_spans import unwrap_output
from carob.traces.messages import events
from carob.traces.shape import decode_json, text_or_none


def role(span: Span) -> SpanRole | None:
    """The part that the recorded output speaks of."""
    asked, told = (decode_json(side) for side in events.read_tool_events(span))
    if not isinstance(told, dict):
        return None
    if "generations" in told:
        return "model"
    if told.get("type") == "tool" or "tool_call_id" in told:
        return "tool"
    # A graph's node is told from the graph by the steps that it has left.
    whole = isinstance(asked, dict) and "messages" in asked and "remaining_steps" not in asked
    return "agent" if whole and "messages" in told else None


def tool(span: Span) -> ToolSpan:
    """The call that the log record of a tool's span tells."""
    args, result = events.read_tool_events(span)
    found = None if result is None else unwrap_output(result)
    return ToolSpan(_name(span, decode_json(result)), found.id if found else None, args, found)


def _name(span: Span, told: Json) -> str | None:
    named = text_or_none(told.get("name")) if isinstance(told, dict) else None
    return text_or_none(span.attributes.get("tool.name")) or named
