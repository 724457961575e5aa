"""Tool calls in the stream that Cursor's CLI prints, whose other lines are those of Claude Code."""

from __future__ import annotations

from carob.schema import Json, ToolCall, ToolResult
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.shape import as_object, as_text, decode_structure, first_value, to_text

_SUFFIX = "ToolCall"
_FAILURES = ("error", "rejected", "failure", "permissionDenied", "timeout")


def is_cursor_call(line: dict[str, Json]) -> bool:
    """Whether a line says that a tool call started or completed."""
    return line.get("type") == "tool_call" and isinstance(line.get("tool_call"), dict)


def add_cursor_call(builder: TurnBuilder, line: dict[str, Json]) -> None:
    """Add the call when it starts, and its result when it is complete."""
    key, call = next(iter(as_object(line["tool_call"]).items()), ("", None))
    fields = as_object(call)
    name = key.removesuffix(_SUFFIX)
    args = fields.get("args")
    if key == "function":
        name, args = as_text(fields.get("name")) or "", decode_structure(fields.get("arguments"))
    call_id = as_text(line.get("call_id"))
    if line.get("subtype") == "started":
        builder.add_call(ToolCall(name=name, args=args, id=call_id))
    elif line.get("subtype") == "completed":
        outcome = as_object(fields.get("result"))
        failure = first_value(outcome, *_FAILURES)
        error = None if failure is None else to_text(failure) or TOOL_FAILED
        result = outcome.get("success") if failure is None else failure
        builder.add_result(ToolResult(name=name, id=call_id, result=result, error=error))
