"""LangChain4j: chat messages as its serializer writes them, with upper-case types."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in

_ROLES = {"USER": "user", "AI": "assistant", "SYSTEM": "system", "TOOL_EXECUTION_RESULT": "tool"}
_KEYS = frozenset(("contents", "text", "toolExecutionRequests", "toolName"))


class LangChain4j:
    """Messages with one of LangChain4j's types; some have `contents` or calls of tools."""

    name = "langchain4j"

    def claims(self, item: Json) -> bool:
        messages = as_array(item)
        return (
            bool(messages)
            and all(map(self.claims_line, messages))
            and any("contents" in message for message in objects_in(messages))
        )

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        return isinstance(kind, str) and kind in _ROLES and not _KEYS.isdisjoint(fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        yield from Chat().read([_message(message) for message in objects_in(item)], source=source)


def _message(message: dict[str, Json]) -> Json:
    role = _ROLES[as_text(message["type"]) or ""]
    if role == "tool":
        return {
            "role": role,
            "tool_call_id": message.get("id"),
            "name": message.get("toolName"),
            "content": message.get("text"),
            "is_error": message.get("isError") is True,
        }
    contents: list[Json] = [
        {"type": "text", "text": block.get("text")}
        for block in objects_in(message.get("contents"))
        if block.get("type") == "TEXT"
    ]
    calls = [_call(call) for call in objects_in(message.get("toolExecutionRequests"))]
    return {"role": role, "content": contents or message.get("text"), "tool_calls": [*calls]}


def _call(call: dict[str, Json]) -> Json:
    args = decode_structure(call.get("arguments"))
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": as_text(call.get("name")), "arguments": args},
    }
