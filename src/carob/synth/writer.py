"""A model that writes cases: how it is asked, how often it must agree, and its lineage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeVar

import msgspec

from carob.datasets.lint.run import IGNORE_KEY
from carob.metrics import Answer, JudgeClient, Ledger, Question
from carob.schema import Case, Json
from carob.schema.synth import HOLDS, PARENT, RELATION, SOURCE, SYNTHETIC, Holds
from carob.synth.generate import OF_PARENT_ALONE

T = TypeVar("T", bound=msgspec.Struct)


class NotKeptError(Exception):
    """Why a case of the model is not kept."""


@dataclass(frozen=True, kw_only=True)
class CaseWriter:
    """Asks a model. What it writes is kept if `agree` of `samples` checks say so."""

    client: JudgeClient
    seed: int = 0
    samples: int = 3
    agree: int = 2
    ledger: Ledger = field(default_factory=Ledger)

    async def ask(self, instructions: str, prompt: str, answer: type[T], sample: int) -> T | None:
        """Return the answer to a question; `None` if the model gives none."""
        question = Question(instructions=instructions, prompt=prompt, answer=answer, sample=sample)
        reply = await self.client.ask(question, self.ledger)
        return reply.value if isinstance(reply, Answer) else None

    async def write(self, instructions: str, prompt: str, answer: type[T]) -> T:
        """Return what the model writes. Raises `NotKeptError` if it writes nothing."""
        written = await self.ask(instructions, prompt, answer, self.seed)
        if written is None:
            raise NotKeptError("no answer of the model")
        return written

    async def check(self, vote: Callable[[int], Awaitable[bool]]) -> None:
        """Let samples vote. Raises `NotKeptError` if too few agree."""
        votes = 0
        for sample in range(self.samples):
            votes += await vote(sample)
            if votes >= self.agree:
                return
        raise NotKeptError("samples disagree")

    def with_lineage(
        self,
        case: Case,
        *,
        relation: str,
        prompts: str,
        holds: Holds | None = None,
        parent: Case | None = None,
        **more: Json,
    ) -> Case:
        """Return a draft whose metadata says how it came to be."""
        texts = "\0".join(turn.user or "" for turn in case.turns)
        digest = blake2b(texts.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
        own = parent.metadata if parent else {}
        lineage: dict[str, Json] = {
            **{key: value for key, value in own.items() if key not in OF_PARENT_ALONE},
            SOURCE: SYNTHETIC,
            "generator": f"carob.synth.{relation}@1",
            "seed": str(self.seed),
            RELATION: relation,
            **({HOLDS: holds} if holds else {}),
            "model": self.client.model,
            "prompt_digest": blake2b(prompts.encode(), digest_size=6).hexdigest(),
            "agreement": f"{self.agree} of {self.samples}",
            "review_status": "draft",
            **more,
        }
        if parent:
            lineage |= {PARENT: parent.id, IGNORE_KEY: ["duplicate", "near-duplicate"]}
        name = f"{parent.id}-{relation}" if parent else relation
        return msgspec.structs.replace(case, id=f"{name}-{digest}", metadata=lineage)
