"""Other courses of a conversation: woven with another case, split into turns, corrected late."""

from __future__ import annotations

import msgspec

from carob.schema import Case, Json, Turn
from carob.synth.context import split_sentences, stands_alone
from carob.synth.literals import StatedSlot, find_literal, replace_messages, stated_slots
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.world import World, argument_texts, expected_calls, leaf_texts
from carob.text.language import guess_language

_CORRECTIONS = ("Sorry, I meant {}, not {}.", "Correction: {}, not {}.", "I mean {}, not {}.")
_MIN_SENTENCES = 2


def _weave(case: Case, draw: Draw, world: World) -> Variant | None:
    """Put the turns of another case between those of this one."""
    partners = [other for other in world.cases if _can_weave(case, other)]
    if not partners:
        return None
    other = draw.pick(partners)
    turns: list[Turn] = []
    for index in range(max(len(case.turns), len(other.turns))):
        turns += [*case.turns[index : index + 1], *other.turns[index : index + 1]]
    woven = msgspec.structs.replace(
        case,
        turns=tuple(turns),
        agents=_join(case.agents, other.agents),
        tools=_join(case.tools, other.tools),
        rubrics=(),
        tags=tuple(dict.fromkeys((*case.tags, *other.tags))),
        context=case.context or other.context,
        session=case.session or other.session,
        # What holds at the end, or for the whole, is not known for both together.
        trajectory=None,
        state=None,
        contains=None,
        contract=None,
        goal=None,
        relevant_context=None,
        reference={},
    )
    return Variant(woven, partner=other.id)


def _can_weave(case: Case, other: Case) -> bool:
    return (
        case.id != other.id
        and _is_weavable(case)
        and _is_weavable(other)
        and not (case.context and other.context and case.context != other.context)
        and _session(case) == _session(other)
        and _named_values(case).isdisjoint(_named_values(other))
        # Two different expected answers to the same words would contradict each other.
        and {turn.user for turn in case.turns}.isdisjoint(turn.user for turn in other.turns)
    )


def _is_weavable(case: Case) -> bool:
    """Whether every turn is understood on its own. A "Yes, please" must follow its question."""
    alone = all(stands_alone(turn.user or "") for turn in case.turns)
    return bool(case.turns) and alone and case.tool_calls is None


def _session(case: Case) -> Json:
    session = case.session
    return [session.app, session.user, session.state] if session else None


def _named_values(case: Case) -> set[str]:
    """The values in calls and results: a case that cancels an order changes what another one about
    the same order should find."""
    results = [result.result for turn in case.turns for result in turn.tool_results]
    texts = argument_texts(expected_calls(case))
    texts.update(text for result in results for text in leaf_texts(result))
    return {text.casefold() for text in texts if any(char.isdigit() for char in text)}


def _join(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if first is None or second is None else tuple(dict.fromkeys((*first, *second)))


def _split(case: Case, _draw: Draw, _world: World) -> Variant | None:
    """Say the sentences of a message one turn at a time. Only the last turn is expected to answer.
    The calls are expected of the whole case: the agent may look things up as soon as it can."""
    if len(case.turns) != 1:
        return None
    (turn,) = case.turns
    sentences = split_sentences(turn.user or "")
    if len(sentences) < _MIN_SENTENCES or not sentences[-1].endswith("?"):
        return None
    if any(sentence.endswith("?") for sentence in sentences[:-1]):
        return None  # the first question would be answered at once
    last = msgspec.structs.replace(turn, user=sentences[-1], tool_calls=None)
    split = msgspec.structs.replace(
        case,
        turns=(*(Turn(user=sentence) for sentence in sentences[:-1]), last),
        tool_calls=case.tool_calls if turn.tool_calls is None else turn.tool_calls,
        trajectory=None,  # an agent may take over more than once
    )
    return Variant(split)


def _correct(case: Case, draw: Draw, world: World) -> Variant | None:
    """Say another value first, and correct it in the same message: what is expected stays."""
    slots = [slot for slot in stated_slots(case) if _other_values(slot, world)]
    if not slots:
        return None
    slot = draw.pick(slots)
    user = case.turns[slot.turn].user or ""
    if guess_language(user) != "en":
        return None
    wrong = draw.pick(_other_values(slot, world))
    (at,) = find_literal(user, slot.text)
    message = user[: at.start()] + wrong + user[at.end() :]
    correction = draw.pick(_CORRECTIONS).format(slot.text, wrong)
    messages = [turn.user or "" for turn in case.turns]
    messages[slot.turn] = f"{message} {correction}"
    return Variant(replace_messages(case, messages), slot=slot.name)


def _other_values(slot: StatedSlot, world: World) -> list[str]:
    values = world.values.get((slot.call.name, slot.name), ())
    return [str(value) for value in values if value != slot.value]


RELATIONS = (
    Relation("woven", "same", "Weaves two cases into one conversation.", _weave),
    Relation("split", "same", "Splits a message into several turns.", _split),
    Relation("late_correction", "same", "Says a wrong value first and corrects it.", _correct),
)
