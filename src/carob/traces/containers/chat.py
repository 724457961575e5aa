"""Chat trajectories: lists of messages, alone or within a record; also those of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.chat import chat_turns, is_dialogue
from carob.traces.normalize import derived_id
from carob.traces.shape import decode_structure, first, table, text

_LISTS = ("messages", "traj", "conversation", "trajectory", "chat_history")
_IDS = ("id", "trace_id", "conversation_id", "session_id", "instance_id")
_CASES = ("task_id", "case_id", "eval_id", "question_id", "instance_id")
_CONVERSATIONS = ("conversation_id", "session_id", "thread_id")
_KEPT = ("reward", "trial", "reward_info", "model", "tools", "metadata")


class Chat:
    """A list of chat messages, or a record around one."""

    name = "chat"

    def claims(self, item: Json) -> bool:
        return is_dialogue(item) or ("history" not in table(item) and bool(_messages(item)))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        held = table(item)
        messages = item if isinstance(item, list) else _messages(item)
        case = text(first(held, *_CASES))
        yield Trace(
            id=_id(held, case) or derived_id(messages),
            turns=chat_turns(messages),
            source=source,
            convention="chat",
            mapper="chat@1",
            case=case,
            conversation=text(first(held, *_CONVERSATIONS)),
            attributes={key: held[key] for key in _KEPT if held.get(key) is not None},
        )


def _id(held: dict[str, Json], case: str | None) -> str | None:
    """The record's id; trials of one task are told apart by their number."""
    found = text(first(held, *_IDS)) or case
    trial = text(held.get("trial"))
    return f"{found}#{trial}" if found and trial and "id" not in held else found


def _messages(item: Json) -> Json:
    held = table(item)
    for key in _LISTS:
        found = decode_structure(held.get(key))
        if is_dialogue(found):
            return found
    return None
