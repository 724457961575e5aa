"""Chat trajectories: lists of messages, alone or within a record, such as those of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.chat import chat_turns, is_dialogue
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_object, as_text, decode_structure, first_value

_MESSAGE_KEYS = ("messages", "traj", "conversation", "trajectory", "chat_history")
_IDS = ("id", "trace_id", "conversation_id", "session_id", "instance_id")
_CASES = ("task_id", "case_id", "eval_id", "question_id", "instance_id")
_CONVERSATIONS = ("conversation_id", "session_id", "thread_id")
_ATTRIBUTES = ("reward", "trial", "reward_info", "model", "tools", "metadata")


class Chat:
    """A list of chat messages, or a record around one."""

    name = "chat"

    def claims(self, item: Json) -> bool:
        return is_dialogue(item) or ("history" not in as_object(item) and bool(_messages(item)))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        messages = item if isinstance(item, list) else _messages(item)
        case = as_text(first_value(fields, *_CASES))
        yield Trace(
            id=_id(fields, case) or content_digest_id(messages),
            turns=chat_turns(messages),
            source=source,
            convention="chat",
            mapper="chat@1",
            case=case,
            conversation=as_text(first_value(fields, *_CONVERSATIONS)),
            attributes={key: fields[key] for key in _ATTRIBUTES if fields.get(key) is not None},
        )


def _id(fields: dict[str, Json], case: str | None) -> str | None:
    """The record's id; trials of the same task differ by their number."""
    record_id = as_text(first_value(fields, *_IDS)) or case
    trial = as_text(fields.get("trial"))
    return f"{record_id}#{trial}" if record_id and trial and "id" not in fields else record_id


def _messages(item: Json) -> Json:
    fields = as_object(item)
    for key in _MESSAGE_KEYS:
        messages = decode_structure(fields.get(key))
        if is_dialogue(messages):
            return messages
    return None
