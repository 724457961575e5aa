"""Microsoft Agent Framework sessions: messages whose `contents` are typed."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Turn
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import role_of
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_key,
    fold_keys,
    objects_in,
)

_MAX_DEPTH = 5


class AgentFramework:
    """A session whose state holds a chat history, or the history alone."""

    name = "agent-framework"

    def claims(self, item: Json) -> bool:
        return _history(item) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = fold_keys(as_object(item))
        messages = _history(item) or []
        session = as_text(first_value(fields, "conversationid", "sessionid", "threadid", "id"))
        yield Trace(
            id=session or content_digest_id(messages),
            turns=_turns(messages),
            source=source,
            convention="agent-framework",
            mapper="agent-framework@1",
            conversation=session,
        )


def _history(item: Json, depth: int = _MAX_DEPTH) -> list[Json] | None:
    """The first list of messages in the state; each provider stores it under its own name."""
    item = decode_structure(item)
    if isinstance(item, list):
        messages = objects_in(item)
        return item if messages and all(map(_is_message, messages)) else None
    if not isinstance(item, dict) or not depth:
        return None
    fields = fold_keys(item)
    keys = fields.keys() & _STATE_KEYS if depth == _MAX_DEPTH else fields.keys()
    histories = (_history(fields[key], depth - 1) for key in fields if key in keys)
    return next((history for history in histories if history), None)


_STATE_KEYS = frozenset(
    {"statebag", "state", "messages", "chathistory", "storestate", "chatmessagestorestate"}
)


def _is_message(item: dict[str, Json]) -> bool:
    return isinstance(item.get("contents"), list) and "role" in item


def _turns(messages: list[Json]) -> tuple[Turn, ...]:
    builder = TurnBuilder()
    for fields in map(fold_keys, objects_in(messages)):
        role = role_of(fields.get("role"))
        contents = [_content(content) for content in objects_in(fields.get("contents"))]
        builder.add_time(instant(fields.get("createdat")))
        agent = as_text(fields.get("authorname")) if role == "assistant" else None
        builder.add_message(read_message({"role": role, "content": [*contents]}, role), agent=agent)
        for content in contents if role != "system" else ():
            _add_usage_or_error(builder, content, agent)
    return builder.turns()


def _content(content: dict[str, Json]) -> dict[str, Json]:
    """The content with the keys of Python's SDK; .NET writes `$type` and `callId`."""
    fields = fold_keys(content)
    kind = _TYPES.get(fold_key(as_text(first_value(fields, "$type", "type")) or "text"))
    fields["type"] = kind or first_value(fields, "$type", "type")
    if kind == "function_call":
        fields.setdefault("arguments", {})
    if (call_id := fields.pop("callid", None)) is not None:
        fields["call_id"] = call_id
    if kind == "function_result" and (error := as_text(fields.get("error"))):
        fields.setdefault("exception", error)
    return fields


_TYPES = {
    "text": "text",
    "functioncall": "function_call",
    "functionresult": "function_result",
    "usage": "usage",
    "error": "error",
}


def _add_usage_or_error(builder: TurnBuilder, content: dict[str, Json], agent: str | None) -> None:
    if content["type"] == "usage":
        usage = usage_of(first_value(content, "details", "usagedetails"))
        if usage is not None:
            builder.add_model_call(ModelCall(usage=usage, agent=agent))
    elif content["type"] == "error":
        builder.add_error(as_text(first_value(content, "message", "errorcode")) or "error")
