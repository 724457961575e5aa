"""More to read, and in another order: distractors, moved facts, long context."""

from __future__ import annotations

import re

import msgspec

from carob.schema import Case
from carob.synth.literals import replace_messages
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.world import World
from carob.text.language import guess_language
from carob.text.tokens import tokenize
from carob.text.vocabulary import word_list

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_DEPENDENT = re.compile(
    r"(?i)\b(it|its|they|them|their|this|that|these|those|he|she|him|her|one|ones|there|then|"
    r"first|second|next|above|below|following|previous|former|latter|also|too|otherwise|however|"
    r"step|finally|earlier|later|again|same|so|because|such|yes|no)\b|^\s*\d+[.)]"
)
_STOP_WORDS = word_list("""
    a an and are as at be been by can for from had has have he her his i in is it its my of on or
    our she that the their there they this to was we were when which with you your not but do
""")
_DISTRACTORS = (
    "My neighbour recommended you.",
    "It has been raining here since dawn.",
    "Sorry for my slow typing, my cat is on the keyboard.",
    "I am writing from a train with a bad connection.",
    "My sister says hello, by the way.",
    "We just moved to the countryside.",
    "I am still drinking my coffee.",
    "The weather is lovely today.",
    "My phone screen is cracked, so forgive any mistakes.",
    "I had a very long day.",
)
_PARAGRAPHS = (
    "Lighthouses were once lit by open fires, and later by oil lamps behind lenses of cut glass.",
    "Moss grows without roots. It takes up water through its leaves, and survives long droughts.",
    "Early paper makers beat linen rags to pulp, spread them on sieves, and pressed them dry.",
    "Sourdough rises by wild yeast, which lives in flour and wakes up when bakers add water.",
    "Tides follow the moon. In narrow bays the sea climbs many metres between ebb and flood.",
    "Glaciers carve valleys over thousands of years, and leave ridges of gravel behind.",
    "Bees tell each other where flowers grow by dancing on the comb in the dark of the hive.",
    "Organ pipes of tin sound brighter than those of lead; builders mix both metals.",
    "Swifts sleep while flying, and touch the ground only to nest under the eaves of old roofs.",
    "Felt was made long before weaving, from wool that was wetted, rolled and trodden.",
    "Salt marshes slow the waves of storms, and store more carbon than many forests.",
    "Medieval masons marked their stones with signs, which show who carved which arch.",
)
_FEWEST_PARAGRAPHS = 3


def stands_alone(text: str) -> bool:
    """Whether a text refers to nothing before it, as far as its words show."""
    return not _DEPENDENT.search(text)


def split_sentences(text: str) -> list[str]:
    """The sentences of a message."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def _add_distractor(case: Case, draw: Draw, _world: World) -> Variant | None:
    first = case.turns[0].user or ""
    if guess_language(first) != "en":
        return None
    unrelated = _find_unrelated(_DISTRACTORS, case)
    if not unrelated:
        return None
    messages = [turn.user or "" for turn in case.turns]
    return Variant(replace_messages(case, [f"{draw.pick(unrelated)} {first}", *messages[1:]]))


def _move_facts(case: Case, draw: Draw, _world: World) -> Variant | None:
    """Reorder the paragraphs of the context, if none refers to another one."""
    paragraphs = [part.strip() for part in _PARAGRAPH_END.split(case.context or "") if part.strip()]
    if len(paragraphs) < 2 or not all(map(stands_alone, paragraphs)):
        return _move_question(case)
    moved = draw.order(paragraphs)
    if moved == paragraphs:
        moved = paragraphs[::-1]
    return Variant(msgspec.structs.replace(case, context="\n\n".join(moved)))


def _move_question(case: Case) -> Variant | None:
    """Put the question of the first message before what the user tells, if it can be asked first:
    "My bike squeals. Can you repair it?" cannot."""
    *facts, question = split_sentences(case.turns[0].user or "")
    if not facts or not question.endswith("?") or not all(map(stands_alone, (*facts, question))):
        return None
    messages = [turn.user or "" for turn in case.turns]
    return Variant(replace_messages(case, [" ".join((question, *facts)), *messages[1:]]))


def _lengthen_context(case: Case, draw: Draw, _world: World) -> Variant | None:
    if not case.context or guess_language(case.context) != "en":
        return None
    unrelated = _find_unrelated(_PARAGRAPHS, case)
    if len(unrelated) < _FEWEST_PARAGRAPHS:
        return None
    paragraphs = draw.order(unrelated)
    # The context stays in one piece: its sentences may refer to each other.
    paragraphs.insert(draw.index(len(paragraphs) + 1), case.context)
    return Variant(msgspec.structs.replace(case, context="\n\n".join(paragraphs)))


def _find_unrelated(texts: tuple[str, ...], case: Case) -> list[str]:
    """The texts that share no word with the case, and so cannot answer or change it."""
    said = [text for turn in case.turns for text in (turn.user, turn.response) if text]
    words = {*tokenize(" ".join([*said, case.context or ""]))}
    return [text for text in texts if words.isdisjoint({*tokenize(text)} - _STOP_STEMS)]


_STOP_STEMS = frozenset(tokenize(" ".join(_STOP_WORDS)))

RELATIONS = (
    Relation(
        "distractor", "same", "Adds an unrelated sentence to the first message.", _add_distractor
    ),
    Relation(
        "moved_facts",
        "same",
        "Reorders the paragraphs of the context, or asks before telling.",
        _move_facts,
    ),
    Relation(
        "long_context", "same", "Hides the context among unrelated paragraphs.", _lengthen_context
    ),
)
