"""Other words for the same request by a model: paraphrases, personas, translations.

The calls and the answer stay; only the words are derived. A rewriting is kept if it still states
every value of the expected calls, and if enough samples of the model say that it asks the same.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from carob.metrics import Answer, JudgeClient, Ledger, Question
from carob.schema import Case, Struct
from carob.schema.synth import HOLDS, PARENT, RELATION, SOURCE, SYNTHETIC
from carob.synth.literals import find_literal, replace_messages
from carob.synth.world import argument_texts, expected_calls

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
    """How a model rewrites messages, and how many of `samples` checks must agree."""

    name: str
    text: str
    samples: int = 3
    agree: int = 2

    @property
    def digest(self) -> str:
        """Identifies the prompts."""
        prompts = _REWRITE.format(style=self.text) + _CHECK
        return blake2b(prompts.encode(), digest_size=6).hexdigest()


async def rewrite_case(
    case: Case, client: JudgeClient, style: RewriteStyle, *, seed: int, ledger: Ledger
) -> Case | None:
    """Rewrite every message of a case. Returns `None` if the model did not answer, changed a value,
    or too few samples agree."""
    messages: list[str] = []
    for turn in case.turns:
        message = await _rewrite(turn.user or "", client, style, seed, ledger)
        if message is None or not _states_same_values(case, turn.user or "", message):
            return None
        messages.append(message)
    if not messages or messages == [turn.user for turn in case.turns]:
        return None
    bare = msgspec.structs.replace(case, origin=None, recorded=None)
    digest = blake2b("\0".join(messages).encode(), digest_size=3).hexdigest()
    lineage = {
        SOURCE: SYNTHETIC,
        "generator": f"carob.synth.{style.name}@1",
        "seed": str(seed),
        PARENT: case.id,
        RELATION: style.name,
        HOLDS: "same",
        "model": client.model,
        "prompt_digest": style.digest,
        "review_status": "draft",
    }
    return msgspec.structs.replace(
        replace_messages(bare, messages),
        id=f"{case.id}-{style.name}-{digest}",
        metadata=dict(lineage),
    )


async def _rewrite(
    user: str, client: JudgeClient, style: RewriteStyle, seed: int, ledger: Ledger
) -> str | None:
    question = Question(
        instructions=_REWRITE.format(style=style.text),
        prompt=f"<message>\n{user}\n</message>",
        answer=Rewriting,
        sample=seed,
    )
    rewriting = await client.ask(question, ledger)
    if not isinstance(rewriting, Answer):
        return None
    message = rewriting.value.message.strip()
    votes = 0
    for sample in range(style.samples):
        check = Question(
            instructions=_CHECK,
            prompt=f"<first>\n{user}\n</first>\n<second>\n{message}\n</second>",
            answer=SameRequest,
            sample=sample,
        )
        answer = await client.ask(check, ledger)
        votes += isinstance(answer, Answer) and answer.value.agree
    return message if message and votes >= style.agree else None


def _states_same_values(case: Case, before: str, after: str) -> bool:
    """Whether every value that the message states and a call contains is still stated."""
    values = argument_texts(expected_calls(case))
    return all(find_literal(after, value) for value in values if find_literal(before, value))


def forget_answers(case: Case) -> Case:
    """The case without expected texts: those of a translation are in another language."""
    turns = tuple(msgspec.structs.replace(turn, response=None, messages=()) for turn in case.turns)
    return msgspec.structs.replace(case, turns=turns, contains=None, goal=None)
