"""Semantic Kernel: a serialized `ChatHistory` of .NET, whose messages have a label as role."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import as_array, as_object, as_text, first_value, objects_in


class SemanticKernel:
    """Messages with a `Role` that has a `Label`, and `Items`."""

    name = "semantic-kernel"

    def claims(self, item: Json) -> bool:
        messages = as_array(item)
        return bool(messages) and all(map(self.claims_line, messages))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return "Label" in as_object(fields.get("Role")) and isinstance(fields.get("Items"), list)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        yield from Chat().read(
            [_read_message(message) for message in objects_in(item)], source=source
        )


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
