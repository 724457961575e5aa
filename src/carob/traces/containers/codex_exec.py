"""Codex: the events that `codex exec --json` prints.

They have no user message, and their token counts include those of the thread's earlier runs, so
that the tokens of this run are not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.containers.session_lines import SessionLines
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.shape import as_object, as_text, objects_in

_TYPES = frozenset(
    (
        "thread.started",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.updated",
        "item.completed",
    )
)
_TOOLS: dict[str, tuple[str, ...]] = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "web_search": ("query",),
}
"""The items of built-in tools, and their arguments."""
_RESULTS = ("aggregated_output", "result", "results")
NO_COUNTS = "the stream of codex exec counts the tokens of earlier runs, too"


class CodexExec(SessionLines):
    """Lines of the types that `codex exec --json` prints."""

    name: ClassVar[str] = "codex-exec"
    convention: ClassVar[str] = "codex-exec"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        if not isinstance(kind, str) or kind not in _TYPES:
            return False
        return isinstance(fields.get("item"), dict) if kind.startswith("item.") else True

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        thread = next((as_text(line.get("thread_id")) for line in lines), None)
        builder = TurnBuilder()
        for line in lines:
            _add_line(builder, line)
        if turns := builder.turns():
            yield self.build_trace(lines, turns, source, session=thread, gaps={"usage": NO_COUNTS})


def _add_line(builder: TurnBuilder, line: dict[str, Json]) -> None:
    kind = line["type"]
    if kind == "turn.started":
        builder.start_turn(None)
    elif kind == "turn.failed":
        builder.add_error(as_text(as_object(line.get("error")).get("message")) or "the turn failed")
    elif kind == "item.completed":
        item = as_object(line["item"])
        if item.get("type") == "agent_message":
            builder.add_answer("", as_text(item.get("text")) or "")
        else:
            _add_tool(builder, item)


def _add_tool(builder: TurnBuilder, item: dict[str, Json]) -> None:
    kind, call_id = as_text(item.get("type")) or "", as_text(item.get("id"))
    if kind == "mcp_tool_call":
        name, args = as_text(item.get("tool")) or "", item.get("arguments")
    elif kind in _TOOLS:
        name, args = kind, {key: item[key] for key in _TOOLS[kind] if key in item}
    else:  # what the model thinks or plans, and warnings
        return
    builder.add_call(ToolCall(name=name, args=args, id=call_id))
    value = next((item[key] for key in _RESULTS if item.get(key) is not None), None)
    error = as_text(as_object(item.get("error")).get("message"))
    if item.get("status") == "failed":
        error = error or as_text(value) or TOOL_FAILED
    builder.add_result(ToolResult(name=name, id=call_id, result=value, error=error))
