"""Goose: exported sessions, the rows of its table of messages, its older session files, and what
`goose run --output-format` prints.

All of them have the same messages. A text that Goose adds for the model in the user's name, such as
the time of day or the summary of a long session, is a message that the user does not see.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id
from carob.traces.shape import (
    as_array,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_ROLES = frozenset(("user", "assistant"))
_CALLS = frozenset(("toolRequest", "frontendToolRequest"))
_HEADS = ({"message_count", "description"}, {"message_count", "working_dir"})
"""The keys of the first line of a session file, which has no message."""


class Goose:
    """Messages with a `role`, the second in which they were `created`, and blocks."""

    name = "goose"

    def claims(self, item: Json) -> bool:
        if isinstance(item, list):
            return bool(item) and all(map(self.claims_line, item))
        fields = as_object(item)
        messages = as_array(fields.get("conversation")) or as_array(fields.get("messages"))
        return bool(messages) and all(map(_is_message, messages))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        if _is_message(fields) or _is_message(fields.get("message")):
            return True
        if isinstance(fields.get("role"), str):
            return "content_json" in fields
        is_head = any(fields.keys() >= keys for keys in _HEADS)
        return is_head or _is_end(fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        if lines := objects_in(item):
            sessions = _group_by_session(lines)
        else:
            messages = objects_in(fields.get("conversation")) or objects_in(fields.get("messages"))
            sessions = {as_text(fields.get("id")): messages}
        for session, messages in sessions.items():
            builder = TurnBuilder()
            has_counts = all(map(_has_counts, messages))
            for message in messages:
                _add_message(builder, message, has_counts=has_counts)
            if turns := builder.turns():
                yield Trace(
                    id=session or content_digest_id([*messages]),
                    turns=turns,
                    source=source,
                    convention="goose",
                    mapper="goose@1",
                    conversation=session,
                )


def _is_message(item: Json) -> bool:
    fields = as_object(item)
    blocks = fields.get("content")
    return (
        as_text(fields.get("role")) in _ROLES
        and type(fields.get("created")) is int
        and isinstance(blocks, list)
        and all("type" in as_object(block) for block in blocks)
    )


def _is_end(fields: dict[str, Json]) -> bool:
    """Whether a line ends what `goose run` prints. Its token counts are those of the whole session,
    of which earlier runs are not in the file."""
    if fields.get("type") == "complete":
        return "total_tokens" in fields
    return fields.keys() == {"type", "error"} and fields["type"] == "error"


def _group_by_session(lines: list[dict[str, Json]]) -> dict[str | None, list[dict[str, Json]]]:
    """The messages of each session; only the rows of its table name theirs."""
    sessions: dict[str | None, list[dict[str, Json]]] = {}
    for line in lines:
        messages = sessions.setdefault(as_text(line.get("session_id")), [])
        if "content_json" in line:
            messages.append(_message_of_row(line))
        elif _is_message(line.get("message")):
            _add_piece(messages, as_object(line["message"]))
        else:
            messages.append(line)
    return sessions


def _message_of_row(row: dict[str, Json]) -> dict[str, Json]:
    return {
        "role": row.get("role"),
        "content": decode_structure(row["content_json"]),
        "created": first_value(row, "created_timestamp", "timestamp"),
        "metadata": decode_structure(row.get("metadata_json")),
    }


def _add_piece(messages: list[dict[str, Json]], piece: dict[str, Json]) -> None:
    """Add a printed message; pieces of the same one have its id, and texts may be cut anywhere."""
    if not messages or messages[-1].get("id") != piece.get("id"):
        messages.append(piece)
        return
    blocks = objects_in(messages[-1].get("content"))
    for block in objects_in(piece.get("content")):
        if block["type"] == "text" and blocks and blocks[-1].get("type") == "text":
            text = (as_text(blocks[-1].get("text")) or "") + (as_text(block.get("text")) or "")
            blocks[-1] = {"type": "text", "text": text}
        else:
            blocks.append(block)
    merged: dict[str, Json] = {**messages[-1], **piece, "content": [*blocks]}
    messages[-1] = merged


def _has_counts(message: dict[str, Json]) -> bool:
    """Whether a text of the model has its token counts: those of a run that is just ending are not
    there yet, while those of earlier runs are, and the sum of some would be too small."""
    blocks = objects_in(message.get("content"))
    is_text = any(block.get("type") == "text" for block in blocks)
    if message.get("role") != "assistant" or not is_text:
        return True
    metadata = as_object(message.get("metadata"))
    return metadata.get("userVisible") is False or bool(metadata.get("usage"))


def _add_message(builder: TurnBuilder, message: dict[str, Json], *, has_counts: bool) -> None:
    metadata = as_object(message.get("metadata"))
    if isinstance(error := message.get("error"), str):
        builder.add_error(error)
    if as_text(message.get("role")) not in _ROLES or metadata.get("userVisible") is False:
        return
    blocks = objects_in(message.get("content"))
    if any(_is_invalid_call(block) for block in blocks):
        builder.mark_calls_unknown()
    content: list[Json] = [_block(block) for block in blocks if not _is_invalid_call(block)]
    add_chat_message(
        builder,
        {"role": message["role"], "content": content, "timestamp": message.get("created")},
    )
    usage = usage_of(metadata.get("usage")) if has_counts else None
    model = as_text(as_object(metadata.get("inference")).get("requestedModel"))
    if usage is not None:
        builder.add_model_call(ModelCall(model=model, usage=usage))


def _is_invalid_call(block: dict[str, Json]) -> bool:
    """Whether the model wrote a call that Goose could not parse: its name is not recorded."""
    return as_text(block.get("type")) in _CALLS and not as_object(
        as_object(block.get("toolCall")).get("value")
    )


def _block(block: dict[str, Json]) -> Json:
    """The block as Anthropic's API has it; Goose wraps calls and results in their success."""
    if as_text(block.get("type")) in _CALLS:
        call = as_object(as_object(block.get("toolCall")).get("value"))
        name, args = call.get("name"), call.get("arguments", {})
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
