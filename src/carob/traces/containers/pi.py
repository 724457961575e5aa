"""pi, a coding agent: the entries of a session, and the events that `pi --mode json` prints.

An entry names the one before it. Going back in a session and asking again starts a branch: the
session is what the last entry follows, and the branches that were left are not part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.containers.session_lines import SessionLines
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_count, as_object, as_text, first_value, objects_in

_MESSAGES = frozenset(("message", "message_end"))
_ENTRIES = frozenset(
    (
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "model_change",
        "session_info",
        "thinking_level_change",
    )
)
_EVENTS = frozenset(
    (
        "agent_end",
        "agent_settled",
        "agent_start",
        "entry_appended",
        "message_start",
        "message_update",
        "queue_update",
        "tool_execution_end",
        "tool_execution_start",
        "tool_execution_update",
        "turn_end",
        "turn_start",
    )
)
_ROLES = {"user": "user", "assistant": "assistant", "toolResult": "tool"}
_FAILED = frozenset(("error", "aborted"))


class Pi(SessionLines):
    """Lines with one of pi's types; messages with their role inside."""

    name: ClassVar[str] = "pi"
    convention: ClassVar[str] = "pi-session"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = as_text(fields.get("type"))
        if kind == "session":
            return "cwd" in fields and "timestamp" in fields
        if kind in _MESSAGES:
            message = as_object(fields.get("message"))
            return isinstance(message.get("role"), str) and "role" not in fields
        return kind in _EVENTS or (kind in _ENTRIES and "timestamp" in fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        heads = (as_text(line.get("id")) for line in lines if line.get("type") == "session")
        session = next(heads, None) or as_text(first_value(lines[0], "sessionId"))
        builder = TurnBuilder()
        for line in _follow_last(lines):
            if line.get("type") in _MESSAGES:
                message = as_object(line.get("message"))
                counts = first_value(message, "usage") or line.get("usage")
                _add_message(builder, message | {"usage": counts}, line.get("timestamp"))
        if turns := builder.turns():
            yield self.build_trace(lines, turns, source, session=session)


def _follow_last(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The entries that lead to the last one; all lines if they have no parents."""
    entries = {
        key: line for line in lines if "parentId" in line and (key := as_text(line.get("id")))
    }
    if not entries:
        return lines
    path: list[dict[str, Json]] = []
    key = next(reversed(entries))
    while (entry := entries.pop(key, None)) is not None:  # taken out, so that a cycle ends
        path.append(entry)
        key = as_text(entry.get("parentId")) or ""
    return path[::-1]


def _add_message(builder: TurnBuilder, message: dict[str, Json], time: Json) -> None:
    role = _ROLES.get(as_text(message.get("role")) or "")
    if role is None:  # a command of the user's own, a summary, or what an extension shows
        return
    fields: dict[str, Json] = {"role": role, "content": message.get("content")}
    if role == "tool":
        fields |= {
            "tool_call_id": message.get("toolCallId"),
            "name": message.get("toolName"),
            "is_error": message.get("isError"),
        }
    add_chat_message(builder, fields | {"timestamp": time or message.get("timestamp")})
    if role == "assistant":
        _add_model_call(builder, message)
        if as_text(message.get("stopReason")) in _FAILED:
            builder.add_error(as_text(message.get("errorMessage")) or "the model failed")


def _add_model_call(builder: TurnBuilder, message: dict[str, Json]) -> None:
    counts = as_object(message.get("usage"))
    if not counts:
        return
    # The input is what was neither read from the cache nor written to it.
    cached, written = as_count(counts.get("cacheRead")), as_count(counts.get("cacheWrite"))
    fresh = as_count(counts.get("input"))
    own = Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=as_count(counts.get("output")),
        cached_tokens=cached,
        cache_write_tokens=written,
    )
    usage = (usage_of(counts) or own) if fresh is None else own
    builder.add_model_call(ModelCall(model=as_text(message.get("model")), usage=usage))
