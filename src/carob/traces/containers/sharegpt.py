"""ShareGPT: conversations of training data, whose messages have a `from` and a `value`."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_object, as_text, decode_structure, objects_in

_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "system": "system",
    "observation": "tool",
    "tool": "tool",
    "function_call": "assistant",
}


class ShareGpt:
    """A record with `conversations`."""

    name = "sharegpt"

    def claims(self, item: Json) -> bool:
        messages = objects_in(as_object(item).get("conversations"))
        return bool(messages) and all(
            "value" in message and as_text(message.get("from")) in _ROLES for message in messages
        )

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        messages = objects_in(fields.get("conversations"))
        builder = TurnBuilder()
        has_calls = any(message["from"] == "function_call" for message in messages)
        for message in messages:
            add_chat_message(builder, _read_message(message))
            if not has_calls:  # most of these files hold what was said, not how it came about
                builder.mark_calls_unknown()
        yield Trace(
            id=as_text(fields.get("id")) or content_digest_id(fields.get("conversations")),
            turns=builder.turns(),
            source=source,
            convention="sharegpt",
            mapper="sharegpt@1",
        )


def _read_message(message: dict[str, Json]) -> dict[str, Json]:
    role, value = _ROLES[as_text(message["from"]) or ""], message.get("value")
    if message["from"] == "function_call":
        return {"role": role, "content": None, "tool_calls": [decode_structure(value)]}
    return {"role": role, "content": value}
