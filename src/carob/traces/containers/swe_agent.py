"""SWE-agent's trajectories: a history in which observations may come in the user's name."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.messages.chat import is_message, role_of, tell
from carob.traces.messages.dialogue import Dialogue
from carob.traces.normalize import derived_id
from carob.traces.shape import count, first, parsed, rows, table, tables, text


class SweAgent:
    """A record with a `history` of messages."""

    name = "swe-agent"

    def claims(self, item: Json) -> bool:
        history = rows(parsed(table(item).get("history")))
        return bool(history) and all(map(is_message, history))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        held = table(item)
        info = table(parsed(held.get("info")))
        history = parsed(held.get("history"))
        case = text(first(held, "instance_id", "task_id") or info.get("instance_id"))
        dialogue = Dialogue()
        _tell(dialogue, tables(history))
        _tell_usage(dialogue, table(info.get("model_stats")))
        yield Trace(
            id=case or derived_id(history),
            turns=dialogue.turns(),
            source=source,
            convention="swe-agent",
            mapper="swe-agent@1",
            case=case,
            attributes={"info": info} if info else {},
        )


def _tell(dialogue: Dialogue, history: list[dict[str, Json]]) -> None:
    acted = begun = False
    for message in history:
        if message.get("is_demo") is True:  # a worked example in the prompt
            continue
        role = role_of(message)
        # The task itself is typed an observation too: nothing has been done yet to observe.
        observed = begun and message.get("message_type") == "observation"
        begun = begun or role == "assistant"
        if role == "user" and (observed or acted):
            tell(dialogue, {"role": "tool", "content": message.get("content")})
        else:
            tell(dialogue, message)
        if role != "note":
            acted = role == "assistant" and "action" in message


def _tell_usage(dialogue: Dialogue, stats: dict[str, Json]) -> None:
    """The run's totals; SWE-agent does not record them call by call."""
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    if sent is not None or received is not None:
        dialogue.model(ModelCall(usage=Usage(input_tokens=sent, output_tokens=received)))
