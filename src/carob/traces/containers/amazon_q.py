"""Amazon Q and Kiro CLI: a saved conversation, whose history has pairs of messages.

What the user's part of a pair is, a prompt or tool results, is the key of its content, and so is
whether the assistant called tools. Tokens are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_object, as_text, first_value, objects_in, text_or_none, to_text

_CONTENTS = frozenset(("Prompt", "ToolUseResults", "CancelledToolUses"))
_ANSWERS = frozenset(("Response", "ToolUse"))
_SUCCESS = "success"


class AmazonQ:
    """An object with a `history` of pairs of a user's and an assistant's message."""

    name = "amazon-q"

    def claims(self, item: Json) -> bool:
        history = objects_in(as_object(item).get("history"))
        return bool(history) and all(map(_is_pair, history))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        history = objects_in(fields.get("history"))
        conversation = as_text(fields.get("conversation_id"))
        builder = TurnBuilder()
        for pair in history:
            _add_user(builder, as_object(pair.get("user")))
            _add_answer(builder, as_object(pair.get("assistant")))
        if turns := builder.turns():
            yield Trace(
                id=conversation or content_digest_id([*history]),
                turns=turns,
                source=source,
                convention="amazon-q",
                mapper="amazon-q@1",
                conversation=conversation,
            )


def _is_pair(pair: dict[str, Json]) -> bool:
    content = as_object(as_object(pair.get("user")).get("content"))
    answer = as_object(pair.get("assistant"))
    return not _CONTENTS.isdisjoint(content) and (not answer or not _ANSWERS.isdisjoint(answer))


def _add_user(builder: TurnBuilder, message: dict[str, Json]) -> None:
    content = as_object(message.get("content"))
    for part in map(as_object, content.values()):
        # Results come before a prompt, because they belong to the turn before.
        for result in objects_in(part.get("tool_use_results")):
            _add_result(builder, result)
        if (prompt := text_or_none(part.get("prompt"))) is not None:
            builder.add_user_text(prompt)
    builder.add_time(instant(message.get("timestamp")))


def _add_result(builder: TurnBuilder, result: dict[str, Json]) -> None:
    blocks = [first_value(block, "Text", "Json") for block in objects_in(result.get("content"))]
    value = blocks[0] if len(blocks) == 1 else "\n".join(map(to_text, blocks))
    failed = (as_text(result.get("status")) or _SUCCESS).lower() != _SUCCESS
    error = (text_or_none(value) or TOOL_FAILED) if failed else None
    call_id = as_text(result.get("tool_use_id"))
    builder.add_result(ToolResult(id=call_id, result=value, error=error))


def _add_answer(builder: TurnBuilder, message: dict[str, Json]) -> None:
    for part in map(as_object, message.values()):
        if text := text_or_none(part.get("content")):
            builder.add_answer("", text)
        for use in objects_in(part.get("tool_uses")):
            # The original name and arguments are what the model wrote.
            name = as_text(first_value(use, "orig_name", "name")) or ""
            args = first_value(use, "orig_args", "args")
            builder.add_call(ToolCall(name=name, args=args, id=as_text(use.get("id"))))
