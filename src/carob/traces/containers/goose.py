"""Goose: rows of its table of messages, whose content is a column of JSON."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import as_array, as_object, decode_structure, first_value, objects_in


class Goose:
    """Rows with a `role` and a `content_json`."""

    name = "goose"

    def claims(self, item: Json) -> bool:
        return bool(as_array(item)) and all(map(self.claims_line, as_array(item)))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return isinstance(fields.get("role"), str) and "content_json" in fields

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        yield from Chat().read([_message(row) for row in objects_in(item)], source=source)


def _message(row: dict[str, Json]) -> Json:
    blocks = objects_in(decode_structure(row.get("content_json")))
    return {
        "role": row.get("role"),
        "content": [_block(block) for block in blocks],
        "session_id": row.get("session_id"),
        "timestamp": first_value(row, "created_timestamp", "timestamp"),
    }


def _block(block: dict[str, Json]) -> Json:
    """The block as Anthropic's API has it; Goose wraps calls and results in their success."""
    if block.get("type") == "toolRequest":
        call = as_object(as_object(block.get("toolCall")).get("value"))
        name, args = call.get("name"), call.get("arguments")
        return {"type": "tool_use", "id": block.get("id"), "name": name, "input": args}
    if block.get("type") == "toolResponse":
        result = as_object(block.get("toolResult"))
        value = result.get("value")
        content = as_object(value).get("content", value)
        failed = result.get("status") == "error" or as_object(value).get("isError") is True
        return {
            "type": "tool_result",
            "tool_use_id": block.get("id"),
            "content": result.get("error") if content is None else content,
            "is_error": failed,
        }
    return block
