"""Other values of an argument, no value, and values that do not exist."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from carob.schema import Case, Json, Rubric, ToolResult
from carob.synth.context import split_sentences
from carob.synth.literals import (
    StatedSlot,
    find_literal,
    forget_outcome,
    replace_value,
    stated_slots,
)
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.tool_schemas import matches_schema, valid_values
from carob.synth.world import World, spell_name

_LABEL = re.compile(
    r"(?i)[\s,(#:]*\b(?:number|no\.?|nr\.?|id|for|with|of|from|to|is|in|on|at|about)?[\s#:(]*$"
)
_DANGLING = re.compile(r"(?i)\s+(?:from|for|of|about|with|under)\s+(?:(?:the|my|our)\s+)?\w+$")
_STATEMENT = re.compile(r"(?i)(?:it|that|(?:the|my|our)(?: \w+){1,3}) is \S+")
"""A sentence that only names a value: "The frame number is HD7-55120."."""
_FEWEST_WORDS = 3
_MIN_DIGITS = 3
_TRIES = 20


def _change_slot(case: Case, draw: Draw, world: World) -> Variant | None:
    """Ask the same about a value that another case uses."""
    choices = [
        (slot, value)
        for slot in _answering_slots(case)
        for value in world.values.get((slot.call.name, slot.name), ())
        if _can_replace(slot, value)
    ]
    return _replace_slot(case, draw, choices)


def _fill_slot(case: Case, draw: Draw, world: World) -> Variant | None:
    """Ask the same about a value that the JSON Schema of the tool allows."""
    choices: list[tuple[StatedSlot, Json]] = []
    for slot in _answering_slots(case):
        tool = world.tools.get(slot.call.name)
        schema = tool.properties.get(slot.name) if tool else None
        values = valid_values(schema) if schema else ()
        choices += [(slot, value) for value in values if _can_replace(slot, value)]
    return _replace_slot(case, draw, choices)


def _answering_slots(case: Case) -> list[StatedSlot]:
    """The slots of questions that one call answers. After a request such as "I want to return the
    jacket of order 7", the calls that follow depend on the order."""
    return [
        slot
        for slot in stated_slots(case)
        if (case.turns[slot.turn].user or "").rstrip().endswith("?")
    ]


def _can_replace(slot: StatedSlot, value: Json) -> bool:
    return isinstance(value, type(slot.value)) and value != slot.value and bool(str(value).strip())


def _replace_slot(
    case: Case, draw: Draw, choices: Sequence[tuple[StatedSlot, Json]]
) -> Variant | None:
    if not choices:
        return None
    slot, value = draw.pick(choices)
    if not isinstance(value, str | int | float):
        return None
    return Variant(replace_value(case, slot, value), slot=slot.name)


def _leave_out_slot(case: Case, draw: Draw, world: World) -> Variant | None:
    """Remove a required value from the message. The agent has to ask for it."""
    slots = [slot for slot in stated_slots(case) if world.is_required(slot.call.name, slot.name)]
    if not slots:
        return None
    slot = draw.pick(slots)
    user = case.turns[slot.turn].user or ""
    message = _remove_value(user, slot.text)
    if message is None:
        return None
    name = spell_name(slot.name)
    rubric = Rubric(
        id=f"asks_for_{slot.name}",
        text=f"The agent asks the user for the {name}, which the user has not stated, and does not"
        f" call {slot.call.name} with an invented {name}.",
    )
    changed = forget_outcome(case, slot.turn, message, None, rubric)
    return Variant(changed, slot=slot.name)


def _remove_value(message: str, value: str) -> str | None:
    """The message without a value and the words that introduce it; `None` if what is left could
    mean something else."""
    sentences = split_sentences(message)
    rest_of_message = [sentence for sentence in sentences if not find_literal(sentence, value)]
    (sentence,) = (sentence for sentence in sentences if find_literal(sentence, value))
    if rest_of_message and _STATEMENT.fullmatch(sentence):
        return " ".join(rest_of_message)
    (at,) = find_literal(sentence, value)
    before, rest = _LABEL.sub("", sentence[: at.start()]), sentence[at.end() :]
    before = _DANGLING.sub("", before)
    if len(before.split()) < _FEWEST_WORDS or re.match(r"\s*\w", rest):
        return None
    return message.replace(sentence, before + rest)


def _invent_id(case: Case, draw: Draw, world: World) -> Variant | None:
    """Ask about an id of the same form that does not exist, with the tool's error as its result."""
    slots = [slot for slot in stated_slots(case) if _is_id(slot)]
    if not slots:
        return None
    slot = draw.pick(slots)
    unknown = next(
        (
            text
            for text in (_scramble(slot.text, draw) for _ in range(_TRIES))
            if text.casefold() not in world.text and _is_valid(slot, text, world)
        ),
        None,
    )
    if unknown is None:
        return None
    value = type(slot.value)(unknown)
    changed = replace_value(case, slot, value)
    turn = changed.turns[slot.turn]
    name = spell_name(slot.name)
    rubric = Rubric(
        id=f"unknown_{slot.name}",
        text=f"The agent says that the {name} {unknown} was not found, and makes nothing up.",
    )
    refused = forget_outcome(changed, slot.turn, turn.user or "", turn.tool_calls, rubric)
    error = ToolResult(
        name=slot.call.name, id=slot.call.id, error=f"{name} {unknown} does not exist"
    )
    return Variant(_with_results(refused, error), slot=slot.name)


def _with_results(case: Case, *results: ToolResult) -> Case:
    """The case with the results of the calls in its last turn."""
    last = msgspec.structs.replace(case.turns[-1], tool_results=results)
    return msgspec.structs.replace(case, turns=(*case.turns[:-1], last))


def _is_id(slot: StatedSlot) -> bool:
    """Whether a value names a thing. Dates and amounts have digits too, but always exist."""
    suffix = re.search(r"(?i)(^|_)(id|number|no|code|ref|reference|key)$|[a-z]I[dD]$", slot.name)
    return bool(suffix) and sum(char.isdigit() for char in slot.text) >= _MIN_DIGITS


def _scramble(text: str, draw: Draw) -> str:
    """The text with other digits; its letters, length and marks stay."""
    return "".join(draw.pick("123456789") if char.isdigit() else char for char in text)


def _is_valid(slot: StatedSlot, text: str, world: World) -> bool:
    tool = world.tools.get(slot.call.name)
    schema = tool.properties.get(slot.name) if tool else None
    return schema is None or matches_schema(type(slot.value)(text), schema)


RELATIONS = (
    Relation("changed_slot", "changed", "Asks about a value of another case.", _change_slot),
    Relation(
        "filled_slot", "changed", "Asks about a value that the tool's schema allows.", _fill_slot
    ),
    Relation("missing_slot", "ask", "Leaves out a value that the tool requires.", _leave_out_slot),
    Relation("unknown_id", "refuse", "Asks about an id that does not exist.", _invent_id),
)
