"""Microsoft Agent Framework sessions: messages whose `contents` are typed."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn
from carob.traces.messages.dialogue import Dialogue
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import derived_id, instant
from carob.traces.shape import first, folded, parsed, rows, table, tables, text

_MAX_DEPTH = 5


class AgentFramework:
    """A session whose state holds a chat history, or the history alone."""

    name = "agent-framework"

    def claims(self, item: Json) -> bool:
        return _history(item) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        held = folded(table(item))
        messages = _history(item) or []
        session = text(first(held, "conversationid", "sessionid", "threadid", "id"))
        yield Trace(
            id=session or derived_id(messages),
            turns=_turns(messages),
            source=source,
            convention="agent-framework",
            mapper="agent-framework@1",
            conversation=session,
        )


def _history(item: Json, depth: int = _MAX_DEPTH) -> list[Json] | None:
    """The first list of messages in the state, which each provider keeps under its own name."""
    item = parsed(item)
    if isinstance(item, list):
        held = tables(item)
        return item if held and all(map(_is_message, held)) else None
    if not isinstance(item, dict) or not depth:
        return None
    held = folded(item)
    doors = held.keys() & _DOORS if depth == _MAX_DEPTH else held.keys()
    inner = (held[key] for key in held if key in doors)
    return next((found for value in inner if (found := _history(value, depth - 1))), None)


_DOORS = frozenset(
    {"statebag", "state", "messages", "chathistory", "storestate", "chatmessagestorestate"}
)


def _is_message(item: dict[str, Json]) -> bool:
    return isinstance(item.get("contents"), list) and "role" in item


def _turns(messages: list[Json]) -> tuple[Turn, ...]:
    dialogue = Dialogue()
    for message in map(folded, tables(messages)):
        role = _role(message.get("role"))
        dialogue.at(instant(message.get("createdat")))
        agent = text(message.get("authorname"))
        if role == "user":
            said = _text(message)
            if said is not None:
                dialogue.user(said)
        elif role == "assistant":
            dialogue.agent(agent)
            said = _text(message)
            if said:
                dialogue.say(agent or "", said)
        if role != "system":
            _tell_contents(dialogue, message, agent if role == "assistant" else None)
    return dialogue.turns()


def _role(value: Json) -> str:
    return (text(table(value).get("value")) or text(value) or "").lower()


def _contents(message: dict[str, Json]) -> list[tuple[str, dict[str, Json]]]:
    held = [folded(content) for content in tables(message.get("contents"))]
    return [(_type(content), content) for content in held]


def _type(content: dict[str, Json]) -> str:
    named = text(first(content, "$type", "type"))
    return named.replace("_", "").lower() if named else "text"


def _text(message: dict[str, Json]) -> str | None:
    said = [text(held.get("text")) for kind, held in _contents(message) if kind == "text"]
    found = [line for line in said if line is not None]
    return "".join(found) if found else None


def _tell_contents(dialogue: Dialogue, message: dict[str, Json], agent: str | None) -> None:
    for kind, held in _contents(message):
        if kind == "functioncall":
            dialogue.call(
                ToolCall(
                    name=text(held.get("name")) or "",
                    args=parsed(held.get("arguments", {})),
                    id=text(held.get("callid")),
                    agent=agent,
                )
            )
        elif kind == "functionresult":
            dialogue.result(_result(held))
        elif kind == "usage":
            usage = usage_of(first(held, "details", "usagedetails"))
            if usage is not None:
                dialogue.model(ModelCall(usage=usage, agent=agent))
        elif kind == "error":
            dialogue.fail(text(first(held, "message", "errorcode")) or "error")


def _result(held: dict[str, Json]) -> ToolResult:
    error = text(first(held, "exception", "error"))
    value = held.get("result")
    joined = [text(table(part).get("text")) for part in rows(value)]
    said = "".join(part for part in joined if part is not None)
    return ToolResult(
        id=text(held.get("callid")),
        result=said if joined and None not in joined else value,
        error=error or None,
    )
