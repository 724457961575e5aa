"""AG2 and AutoGen 0.2: the result of a chat.

Its history is written from the side of the agent that began the chat and stands for the user: that
agent's messages have the role `assistant`, those of the agent that answers have the role `user`.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_array, as_object, as_text, objects_in

_RESULT = frozenset(("chat_history", "summary", "cost"))
NO_COUNTS = "AG2 counts the tokens of the whole chat, not of each model call"


class Ag2:
    """A result with its `chat_history`, or a history whose tools have `tool_responses`."""

    name = "ag2"

    def claims(self, item: Json) -> bool:
        if isinstance(item, dict):
            return item.keys() >= _RESULT and bool(_starter(objects_in(item["chat_history"])))
        messages = objects_in(as_array(item))
        return any("tool_responses" in message for message in messages) and bool(_starter(messages))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        messages = objects_in(fields.get("chat_history")) or objects_in(item)
        starter = _starter(messages)
        builder = TurnBuilder()
        agent: str | None = None
        for message in messages:
            is_user = message.get("name") == starter
            agent = agent if is_user else as_text(message.get("name")) or agent
            for part in _parts(message, agent, is_user=is_user):
                add_chat_message(builder, part)
        yield Trace(
            id=as_text(fields.get("chat_id")) or content_digest_id([*messages]),
            turns=builder.turns(),
            source=source,
            convention="ag2",
            mapper="ag2@1",
            gaps={"usage": NO_COUNTS},
        )


def _starter(messages: list[dict[str, Json]]) -> str | None:
    """The agent that began the chat: its first message has its name and the role `assistant`."""
    first = messages[0] if messages else {}
    is_request = first.get("role") == "assistant" and not first.get("tool_calls")
    return as_text(first.get("name")) if is_request else None


def _parts(message: dict[str, Json], agent: str | None, *, is_user: bool) -> list[dict[str, Json]]:
    responses = objects_in(message.get("tool_responses"))
    if responses:
        return [{"role": "tool", **response} for response in responses]
    if is_user:
        content = message.get("content")
        return [{"role": "user", "content": content}] if content else []
    return [{**message, "role": "assistant", "name": as_text(message.get("name")) or agent}]
