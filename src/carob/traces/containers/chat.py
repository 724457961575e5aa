"""Chat trajectories: lists of messages, alone or within a record, such as those of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.containers.foreign import is_log_event
from carob.traces.messages.chat import chat_turns, is_dialogue, is_message
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_object, as_text, decode_structure, first_value, objects_in

_MESSAGE_KEYS = ("messages", "traj", "conversation", "trajectory", "chat_history")
_IDS = ("id", "trace_id", "conversation_id", "session_id", "instance_id")
_CASES = ("task_id", "case_id", "eval_id", "question_id", "instance_id")
_CONVERSATIONS = ("conversation_id", "session_id", "thread_id", "sessionId", "conversationId")
_ATTRIBUTES = ("reward", "trial", "reward_info", "model", "tools", "metadata")


class Chat:
    """A list of chat messages, or a record around one."""

    name = "chat"

    def claims(self, item: Json) -> bool:
        if is_dialogue(item):
            return True
        fields = as_object(item)
        return "history" not in fields and not is_log_event(fields) and bool(_messages(item))

    def claims_line(self, item: Json) -> bool:
        return is_message(item)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        if isinstance(item, list):
            for conversation, messages in _group_by_conversation(item).items():
                yield _trace({"session_id": conversation}, [*messages], source)
        else:
            yield _trace(as_object(item), _messages(item), source)


def _trace(fields: dict[str, Json], messages: Json, source: str) -> Trace:
    case = as_text(first_value(fields, *_CASES))
    return Trace(
        id=_id(fields, case) or content_digest_id(messages),
        turns=chat_turns(messages),
        source=source,
        convention="chat",
        mapper="chat@2",
        case=case,
        conversation=as_text(first_value(fields, *_CONVERSATIONS)),
        attributes={key: fields[key] for key in _ATTRIBUTES if fields.get(key) is not None},
    )


def _group_by_conversation(messages: list[Json]) -> dict[str | None, list[dict[str, Json]]]:
    """The messages of each conversation; a message that names none belongs to the last one."""
    groups: dict[str | None, list[dict[str, Json]]] = {}
    current: str | None = None
    for message in objects_in(messages):
        current = as_text(first_value(message, *_CONVERSATIONS)) or current
        groups.setdefault(current, []).append(message)
    return groups


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
