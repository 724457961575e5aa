"""What a run would ask, with nobody asked."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from carob.judges.client.cache import Cache
from carob.judges.client.price import cost, input_tokens
from carob.judges.client.sending import address_of, request_for
from carob.judges.client.validity import Invalid, read
from carob.metrics import Answer, Entry, Ledger, Question
from carob.schema import Failed, Json, JudgeChoice, Unscored

T = TypeVar("T", bound=msgspec.Struct)


class Estimator:
    """Counts questions as if each were answered at the first try and at full length. A question
    that follows from an answer is counted only if that answer is known from before."""

    def __init__(self, choice: JudgeChoice, cache: Cache) -> None:
        self.model = choice.model
        self.params: dict[str, Json] = {}
        self._choice = choice
        self._cache = cache
        self._seen: set[str] = set()

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """The answer if it is known; else what it would take is in the ledger."""
        address = address_of(question, self._choice)
        kept = self._cache.get(address)
        tokens = input_tokens(request_for(question, self._choice))
        ledger.entries.append(
            Entry(
                address=address,
                answered=False,
                cached=kept is not None or address in self._seen,
                calls=1,
                input_tokens=tokens,
                output_tokens=self._choice.max_tokens,
                cost=cost(self.model, tokens, self._choice.max_tokens),
            )
        )
        self._seen.add(address)
        found = read(kept.text, question.answer) if kept else None
        if kept is None or found is None or isinstance(found, Invalid):
            return Unscored(reason="estimated, not asked")
        return Answer(value=found.value, probabilities=kept.probabilities)

    async def close(self) -> None:
        """There is nothing to let go of."""
