"""Semantic Kernel: a serialized `ChatHistory`.

In .NET a message has a label as role and its `Items`; in Python it has a role and its `items`.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import (
    as_array,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)


class SemanticKernel:
    """Messages with a `Role` that has a `Label`, and `Items`; in Python a history of messages with
    a `content_type` and `items`."""

    name = "semantic-kernel"

    def claims(self, item: Json) -> bool:
        if isinstance(item, dict):
            messages = as_array(item.get("messages"))
            return bool(messages) and all(map(_is_python_message, messages))
        messages = as_array(item)
        return bool(messages) and all(map(self.claims_line, messages))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return "Label" in as_object(fields.get("Role")) and isinstance(fields.get("Items"), list)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        history = objects_in(as_object(item).get("messages"))
        messages = [_read_python_message(message) for message in history]
        messages += [_read_message(message) for message in objects_in(item)]
        yield from Chat().read(messages, source=source)


def _is_python_message(item: Json) -> bool:
    fields = as_object(item)
    return fields.get("content_type") == "message" and isinstance(fields.get("items"), list)


def _read_python_message(message: dict[str, Json]) -> Json:
    return {
        "role": message.get("role"),
        "content": [_read_python_item(item) for item in objects_in(message.get("items"))],
        "name": message.get("name"),
        "model": message.get("ai_model_id"),
        "usage": as_object(message.get("metadata")).get("usage"),
    }


def _read_python_item(item: dict[str, Json]) -> Json:
    kind, name = item.get("content_type"), item.get("name")
    if kind == "function_call":
        args = decode_structure(item.get("arguments"))
        return {"type": "tool_use", "id": item.get("id"), "name": name, "input": args or {}}
    if kind == "function_result":
        result = item.get("result")
        return {"type": "tool_result", "tool_use_id": item.get("id"), "content": result}
    return {"type": "text", "text": item.get("text")} if kind == "text" else {"type": "image"}


def _read_message(message: dict[str, Json]) -> Json:
    metadata = as_object(message.get("Metadata"))
    return {
        "role": as_object(message.get("Role")).get("Label"),
        "content": [_read_item(item) for item in objects_in(message.get("Items"))],
        "name": message.get("AuthorName"),
        "model": message.get("ModelId"),
        "usage": metadata.get("Usage"),
    }


def _read_item(item: dict[str, Json]) -> Json:
    kind = as_text(item.get("$type"))
    if kind == "FunctionCallContent":
        names = [as_text(item.get(key)) for key in ("PluginName", "FunctionName")]
        args = first_value(item, "Arguments")
        name = "-".join(part for part in names if part)
        return {"type": "tool_use", "id": item.get("Id"), "name": name, "input": args or {}}
    if kind == "FunctionResultContent":
        content = item.get("Result")
        return {"type": "tool_result", "tool_use_id": item.get("CallId"), "content": content}
    return {"type": "text", "text": item.get("Text")} if "Text" in item else {"type": "image"}
