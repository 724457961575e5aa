"""LlamaIndex.TS: the messages of a memory, whose `options` hold tool calls and results."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in

_OPTIONS = frozenset(("toolCall", "toolResult"))


class LlamaIndexTs:
    """Messages with a role, of which some have a `toolCall` or a `toolResult` in their options."""

    name = "llama-index-ts"

    def claims(self, item: Json) -> bool:
        messages = objects_in(as_array(item))
        has_roles = bool(messages) and all(as_text(item.get("role")) for item in messages)
        return has_roles and any(not _OPTIONS.isdisjoint(_options(item)) for item in messages)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        yield from Chat().read([_message(message) for message in objects_in(item)], source=source)


def _options(message: dict[str, Json]) -> dict[str, Json]:
    return as_object(message.get("options"))


def _message(message: dict[str, Json]) -> Json:
    options = _options(message)
    if result := as_object(options.get("toolResult")):  # in the user's name
        return {
            "role": "tool",
            "tool_call_id": result.get("id"),
            "content": result.get("result"),
            "is_error": result.get("isError") is True,
        }
    calls: list[Json] = [
        {
            "id": call.get("id"),
            "type": "function",
            "function": {
                "name": call.get("name"),
                "arguments": decode_structure(call.get("input")),
            },
        }
        for call in objects_in(options.get("toolCall"))
    ]
    fields = {key: value for key, value in message.items() if key != "options"}
    return {**fields, "tool_calls": calls}
