"""The values that a user states and a call contains: find them, replace them, protect them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from carob.schema import Case, Json, Rubric, ToolCall, Turn
from carob.schema.assertion import stated_assertions
from carob.synth.world import argument_texts, call_arguments, expected_calls, leaf_texts

_WORD = re.compile(r"[\w'-]+")
_MENTION = r"(?<![\w-]){}(?![\w-])"


class StatedSlot(NamedTuple):
    """An argument of the only call of a turn whose value the user says in that turn."""

    turn: int
    call: ToolCall
    name: str
    value: str | int | float

    @property
    def text(self) -> str:
        """The value as the user says it."""
        return str(self.value)


def find_literal(text: str, literal: str) -> list[re.Match[str]]:
    """Where a text contains a value as a word of its own."""
    return list(re.finditer(_MENTION.format(re.escape(literal)), text))


def stated_slots(case: Case) -> Iterator[StatedSlot]:
    """The arguments that can be varied: the turn makes exactly one call, no earlier turn makes any,
    and nothing but the message and the call names the value. With a second call, what follows from
    the result of the first would no longer be known."""
    if case.tool_calls is not None:
        return
    index = next((i for i, turn in enumerate(case.turns) if turn.tool_calls), None)
    if index is None:
        return
    turn = case.turns[index]
    call, *others = turn.tool_calls or [None]
    if call is None or others:
        return
    for name, value in call_arguments(call).items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        slot = StatedSlot(index, call, name, value)
        rest = {key: item for key, item in call_arguments(call).items() if key != name}
        if (
            len(find_literal(turn.user or "", slot.text)) == 1
            and not _is_known_otherwise(case, slot)
            and not any(slot.text in text for text in leaf_texts(rest))
        ):
            yield slot


def _is_known_otherwise(case: Case, slot: StatedSlot) -> bool:
    """Whether the agent could know the value without the message."""
    elsewhere: list[Json] = [case.context, msgspec.to_builtins(case.session)]
    elsewhere += [earlier.user for earlier in case.turns[: slot.turn]]
    return any(slot.text in text for value in elsewhere for text in leaf_texts(value))


def replace_value(case: Case, slot: StatedSlot, value: str | int | float) -> Case:
    """The case with another value in the message and the call, without what is no longer known."""
    turn = case.turns[slot.turn]
    user = substitute(turn.user or "", slot.text, str(value))
    call = msgspec.structs.replace(slot.call, args={**call_arguments(slot.call), slot.name: value})
    return forget_outcome(case, slot.turn, user, (call,))


def substitute(text: str, literal: str, other: str) -> str:
    """The text with the first mention of a value replaced."""
    return re.sub(_MENTION.format(re.escape(literal)), lambda _: other, text, count=1)


def forget_outcome(
    case: Case, index: int, user: str, calls: tuple[ToolCall, ...] | None, *rubrics: Rubric
) -> Case:
    """The case up to a turn, with another message in it. What was expected of the turn and of the
    whole case is not known any more, except for the calls and rubrics that the caller states."""
    turn = case.turns[index]
    changed = Turn(user=user, id=turn.id, app=turn.app, tool_calls=calls, rubrics=rubrics)
    return msgspec.structs.replace(
        case,
        turns=(*case.turns[:index], changed),
        tool_calls=None,
        trajectory=None,
        state=None,
        contains=None,
        contract=None,
        goal=None,
        relevant_context=None,
        reference={},
        rubrics=(),
    )


def protected_words(case: Case) -> frozenset[str]:
    """The words that an expectation repeats literally, in lower case: changing them in a message
    would change what is expected."""
    texts = argument_texts(expected_calls(case))
    texts.update(case.contains or ())
    texts.update(leaf_texts(stated_assertions(case.reference)))
    texts.update(leaf_texts(case.state or {}))
    texts.update(leaf_texts(case.session.state if case.session else {}))
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def replace_messages(case: Case, messages: list[str]) -> Case:
    """The case with other user messages, and the same expectations."""
    turns = tuple(
        turn if turn.user is None else msgspec.structs.replace(turn, user=message)
        for turn, message in zip(case.turns, messages, strict=True)
    )
    return msgspec.structs.replace(case, turns=turns)
