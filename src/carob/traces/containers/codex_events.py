"""Tool calls that a rollout of Codex has as events only, without the items of the model."""

from __future__ import annotations

from typing import NamedTuple

from carob.schema import Json, ToolCall, ToolResult
from carob.traces.messages.turns import TOOL_FAILED
from carob.traces.shape import as_object, as_text, first_value

_BY_USER = "user_shell"
"""The source of commands that the user ran."""


class ToolEvent(NamedTuple):
    """A call and its result, as the event that ends it has them."""

    call: ToolCall
    result: ToolResult


def read_tool_event(event: dict[str, Json]) -> ToolEvent | None:
    """Return what an event says of a tool call that has ended; `None` for any other event."""
    kind = event.get("type")
    if kind == "exec_command_end" and event.get("source") != _BY_USER:
        return _end(event, "exec_command", {"command": event.get("command")})
    if kind == "patch_apply_end":
        return _end(event, "apply_patch", {"changes": event.get("changes")})
    if kind == "web_search_end":
        return _end(event, "web_search", {"query": event.get("query")})
    if kind == "mcp_tool_call_end":
        invocation = as_object(event.get("invocation"))
        name = as_text(invocation.get("tool"))
        return _end(event, name, invocation.get("arguments")) if name else None
    return None


def _end(event: dict[str, Json], name: str, args: Json) -> ToolEvent:
    call_id = as_text(event.get("call_id"))
    output = first_value(event, "aggregated_output", "stdout", "result", "action")
    failed = event.get("exit_code") not in (None, 0) or event.get("success") is False
    text = as_text(first_value(event, "stderr", "aggregated_output", "stdout"))
    error = (text or TOOL_FAILED) if failed else None
    return ToolEvent(
        ToolCall(name=name, args=args, id=call_id),
        ToolResult(id=call_id, result=output, error=error),
    )
