"""Letta: the messages of an agent as its API returns them, each with a `message_type`.

The API returns the newest message first or last, as it is asked. What Letta itself tells the model,
such as that a tool has returned, is a message in the user's name, in JSON with a type of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.blocks import read_message
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_array,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_TYPES = ("_message", "usage_statistics", "stop_reason")
"""How the types of its messages end."""
_CALLS = frozenset(("tool_call_message", "approval_request_message"))
_EVENTS = frozenset(("heartbeat", "login", "system_alert"))


class Letta:
    """Messages whose `message_type` is one of Letta's."""

    name = "letta"

    def claims(self, item: Json) -> bool:
        messages = as_array(item) or as_array(as_object(item).get("messages"))
        return bool(messages) and all(map(self.claims_line, messages))

    def claims_line(self, item: Json) -> bool:
        kind = as_object(item).get("message_type")
        return isinstance(kind, str) and kind.endswith(_TYPES)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        messages = _oldest_first(objects_in(item) or objects_in(fields.get("messages")))
        builder = TurnBuilder()
        called: set[str] = set()
        for message in messages:
            _add_message(builder, message, called)
        if usage := usage_of(fields.get("usage")):
            builder.add_model_call(ModelCall(usage=usage))
        turns = builder.turns()
        if turns:
            yield Trace(
                id=content_digest_id([*messages]),
                turns=turns,
                source=source,
                convention="letta",
                mapper="letta@1",
            )


def _oldest_first(messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    times = [time for message in messages if (time := instant(message.get("date"))) is not None]
    return messages[::-1] if times and times[0] > times[-1] else messages


def read_user_text(content: Json) -> str | None:
    """Return what a user wrote; `None` for a message that Letta wrote in the user's name."""
    text = read_message(content, "user").text or ""
    fields = as_object(decode_structure(text))
    kind = as_text(fields.get("type"))
    if kind in _EVENTS:
        return None
    return as_text(fields.get("message")) if kind == "user_message" else text


def _add_message(builder: TurnBuilder, message: dict[str, Json], called: set[str]) -> None:
    kind = message.get("message_type")
    if kind == "user_message":
        if (written := read_user_text(message.get("content"))) is not None:
            builder.add_user_text(written)
    elif kind == "assistant_message":
        if text := read_message(message.get("content"), "assistant").text:
            builder.add_answer("", text)
    elif kind in _CALLS:
        # `tool_call` is the first of `tool_calls`. A call that was approved is there twice.
        for call in objects_in(message.get("tool_calls")) or [as_object(message.get("tool_call"))]:
            _add_call(builder, call, called)
    elif kind == "tool_return_message":
        for result in objects_in(message.get("tool_returns")) or [message]:
            _add_result(builder, result)
    elif kind == "usage_statistics" and (usage := usage_of(message)):
        builder.add_model_call(ModelCall(usage=usage))
    builder.add_time(instant(first_value(message, "date")))


def _add_call(builder: TurnBuilder, call: dict[str, Json], called: set[str]) -> None:
    name, key = as_text(call.get("name")) or "", as_text(call.get("tool_call_id"))
    if key is None or key not in called:
        builder.add_call(ToolCall(name=name, args=decode_structure(call.get("arguments")), id=key))
    if key is not None:
        called.add(key)


def _add_result(builder: TurnBuilder, result: dict[str, Json]) -> None:
    value = decode_structure(first_value(result, "tool_return", "func_response"))
    reason = value if isinstance(value, str) and value else TOOL_FAILED
    error = reason if result.get("status") == "error" else None
    key = as_text(result.get("tool_call_id"))
    builder.add_result(ToolResult(id=key, result=value, error=error))
