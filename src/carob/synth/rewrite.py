"""Other words for the same request by a model: paraphrases, personas, translations.

The calls and the answer stay; only the words are derived. A rewriting is kept if it still states
every value of the expected calls, and if enough samples of the model say that it asks the same.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from carob.schema import Case, Struct
from carob.synth.literals import find_literal, replace_messages
from carob.synth.world import argument_texts, expected_calls
from carob.synth.writer import CaseWriter, NotKeptError

_REWRITE = """\
Rewrite the user's message of a test for an AI agent. {style}
Ask for exactly the same, add nothing and leave nothing out. Copy names, numbers, ids and dates
literally. Return the message alone."""
_CHECK = """\
Compare two messages of a user to an AI agent. They agree if a right answer to one is a right answer
to the other: the same request, the same values, nothing added and nothing left out."""


class Rewriting(Struct, frozen=True):
    """A message in other words."""

    message: str


class SameRequest(Struct, frozen=True):
    """Whether two messages ask for the same."""

    agree: bool


class RewriteStyle(NamedTuple):
    """How a model rewrites messages."""

    name: str
    text: str
    keeps_answers: bool = True
    """Whether the expected texts stay. Those of a translation are in another language."""


async def rewrite_case(case: Case, writer: CaseWriter, style: RewriteStyle) -> Case:
    """Rewrite every message of a case. Raises `NotKeptError` if the model did not answer, changed a
    value, or too few samples agree."""
    instructions = _REWRITE.format(style=style.text)
    messages: list[str] = []
    for turn in case.turns:
        message = await _rewrite(turn.user or "", writer, instructions)
        if not _states_same_values(case, turn.user or "", message):
            raise NotKeptError("a value is missing")
        messages.append(message)
    if messages == [turn.user for turn in case.turns]:
        raise NotKeptError("not rewritten")
    bare = msgspec.structs.replace(
        case, origin=None, recorded=None, created_at=None, updated_at=None
    )
    rewritten = replace_messages(bare if style.keeps_answers else _forget_answers(bare), messages)
    return writer.with_lineage(
        rewritten,
        relation=style.name,
        holds="same",
        prompts=instructions + _CHECK,
        parent=case,
    )


async def _rewrite(user: str, writer: CaseWriter, instructions: str) -> str:
    prompt = f"<message>\n{user}\n</message>"
    message = (await writer.write(instructions, prompt, Rewriting)).message.strip()
    if not message:
        raise NotKeptError("no answer of the model")

    async def vote(sample: int) -> bool:
        both = f"<first>\n{user}\n</first>\n<second>\n{message}\n</second>"
        answer = await writer.ask(_CHECK, both, SameRequest, sample)
        return answer is not None and answer.agree

    await writer.check(vote)
    return message


def _states_same_values(case: Case, before: str, after: str) -> bool:
    """Whether every value that the message states and a call contains is still stated."""
    values = argument_texts(expected_calls(case))
    return all(find_literal(after, value) for value in values if find_literal(before, value))


def _forget_answers(case: Case) -> Case:
    turns = tuple(msgspec.structs.replace(turn, response=None, messages=()) for turn in case.turns)
    return msgspec.structs.replace(case, turns=turns, contains=None, goal=None)
