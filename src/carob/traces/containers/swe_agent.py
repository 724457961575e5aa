"""SWE-agent's trajectories: a history in which observations may come in the user's name.

In text mode the model writes its commands into the text. They are not recorded as tool calls, so
the calls of such a turn are unknown, and what the model says is its thought without the command.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.messages.chat import add_chat_message, chat_role, is_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id
from carob.traces.shape import (
    as_array,
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_OWN_KEYS = frozenset(("trajectory", "info", "environment", "instance_id"))
_STEP_KEYS = frozenset(("action", "thought", "message_type", "agent"))


class SweAgent:
    """A record with a `history` of messages."""

    name = "swe-agent"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        history = as_array(decode_structure(fields.get("history")))
        if not history or not all(map(is_message, history)):
            return False
        # The history of a row with a question is what was said before, and not what happened.
        return not _OWN_KEYS.isdisjoint(fields) or any(map(_is_step, history))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        info = as_object(decode_structure(fields.get("info")))
        history = decode_structure(fields.get("history"))
        thoughts = _thoughts(decode_structure(fields.get("trajectory")))
        case = as_text(first_value(fields, "instance_id", "task_id") or info.get("instance_id"))
        builder = TurnBuilder()
        _add_history(builder, objects_in(history), thoughts)
        _add_usage(builder, as_object(info.get("model_stats")))
        yield Trace(
            id=case or content_digest_id(history),
            turns=builder.turns(),
            source=source,
            convention="swe-agent",
            mapper="swe-agent@2",
            case=case,
            attributes={"info": info} if info else {},
        )


def _is_step(message: Json) -> bool:
    return not _STEP_KEYS.isdisjoint(as_object(message))


def _thoughts(trajectory: Json) -> dict[str, str]:
    """What the model thought at each step, by the whole response; a history may lack it."""
    return {
        response: thought
        for step in objects_in(trajectory)
        if (response := as_text(step.get("response"))) is not None
        and (thought := as_text(step.get("thought"))) is not None
    }


def _add_history(
    builder: TurnBuilder, history: list[dict[str, Json]], thoughts: dict[str, str]
) -> None:
    acted = begun = False
    for message in history:
        if message.get("is_demo") is True:  # a worked example in the prompt
            continue
        role = chat_role(message)
        # The task itself is typed an observation too: nothing has been done yet to observe.
        observed = begun and message.get("message_type") == "observation"
        begun = begun or role == "assistant"
        if role == "user" and (observed or acted):
            add_chat_message(builder, {"role": "tool", "content": message.get("content")})
        elif role == "assistant" and message.get("action") and not message.get("tool_calls"):
            thought = as_text(message.get("thought")) or thoughts.get(
                as_text(message.get("content")) or ""
            )
            add_chat_message(
                builder, message if thought is None else message | {"content": thought}
            )
            builder.mark_calls_unknown()
        else:
            add_chat_message(builder, message)
        if role != "system":
            acted = role == "assistant" and "action" in message


def _add_usage(builder: TurnBuilder, stats: dict[str, Json]) -> None:
    """The run's totals; SWE-agent does not record them call by call. Where a human or a replay took
    the place of the model, they are zero, and nobody counted."""
    sent, received = as_count(stats.get("tokens_sent")), as_count(stats.get("tokens_received"))
    if sent or received:
        builder.add_model_call(ModelCall(usage=Usage(input_tokens=sent, output_tokens=received)))
