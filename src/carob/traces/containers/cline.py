"""Cline: the messages of a session, with the model and the token counts of each answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, objects_in

_INPUT = re.compile(r"\A<user_input[^>]*>(.*)</user_input>\Z", re.DOTALL)
"""How Cline marks what the user wrote."""


class Cline:
    """A session with its `agent` and the `origin` of its `messages`."""

    name = "cline"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return fields.keys() >= {"sessionId", "agent", "messages"} and "version" in fields

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        session = as_text(fields.get("sessionId")) or ""
        builder = TurnBuilder()
        for message in objects_in(fields.get("messages")):
            _add_message(builder, message)
        if turns := builder.turns():
            yield Trace(
                id=session,
                turns=turns,
                source=source,
                convention="cline-session",
                mapper="cline-session@1",
                conversation=session,
            )


def _add_message(builder: TurnBuilder, message: dict[str, Json]) -> None:
    content = [_block(block) for block in objects_in(message.get("content"))]
    add_chat_message(
        builder, {"role": message.get("role"), "content": content or message.get("content")}
    )
    builder.add_time(instant(message.get("ts")))
    counts = as_object(message.get("metrics"))
    if counts:
        usage = Usage(
            input_tokens=as_count(counts.get("inputTokens")),
            output_tokens=as_count(counts.get("outputTokens")),
            cached_tokens=as_count(counts.get("cacheReadTokens")),
            cache_write_tokens=as_count(counts.get("cacheWriteTokens")),
        )
        model = as_text(as_object(message.get("modelInfo")).get("id"))
        builder.add_model_call(ModelCall(model=model, usage=usage))


def _block(block: dict[str, Json]) -> Json:
    """The block without the mark of the user's text, and with the failure of its tool."""
    if block.get("type") == "text" and (text := _INPUT.match(as_text(block.get("text")) or "")):
        return {**block, "text": text[1]}
    if block.get("type") == "tool_result":
        answers = objects_in(block.get("content"))
        failed = bool(answers) and all(answer.get("success") is False for answer in answers)
        return {**block, "is_error": block.get("is_error") is True or failed}
    return block
