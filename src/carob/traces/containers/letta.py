"""Letta: the messages of an agent as its API returns them, each with a `message_type`."""

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
        messages = objects_in(item) or objects_in(fields.get("messages"))
        builder = TurnBuilder()
        for message in messages:
            _add_message(builder, message)
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


def _add_message(builder: TurnBuilder, message: dict[str, Json]) -> None:
    kind = message.get("message_type")
    if kind == "user_message":
        builder.add_user_text(read_message(message.get("content"), "user").text or "")
    elif kind == "assistant_message":
        if text := read_message(message.get("content"), "assistant").text:
            builder.add_answer("", text)
    elif kind == "tool_call_message":
        call = as_object(message.get("tool_call"))
        args = decode_structure(call.get("arguments"))
        name, key = as_text(call.get("name")) or "", as_text(call.get("tool_call_id"))
        builder.add_call(ToolCall(name=name, args=args, id=key))
    elif kind == "tool_return_message":
        value = decode_structure(message.get("tool_return"))
        reason = value if isinstance(value, str) and value else TOOL_FAILED
        error = reason if message.get("status") == "error" else None
        key = as_text(message.get("tool_call_id"))
        builder.add_result(ToolResult(id=key, result=value, error=error))
    elif kind == "usage_statistics" and (usage := usage_of(message)):
        builder.add_model_call(ModelCall(usage=usage))
    builder.add_time(instant(first_value(message, "date")))
