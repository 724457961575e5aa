"""Who answers questions: from the cache, or by asking the model until the answer is valid."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from carob.judges.client.budget import SpentError
from carob.judges.client.cache import Cache, Kept
from carob.judges.client.caller import Caller
from carob.judges.client.probabilities import chosen, probabilities
from carob.judges.client.sending import address_of, again, request_for
from carob.judges.client.validity import Invalid, Valid, check, read
from carob.judges.client.values import allowed, words
from carob.judges.model import RefusedError, Reply, Request
from carob.metrics import Answer, Entry, Ledger, Question
from carob.schema import Failed, Json, JudgeChoice, Unscored

T = TypeVar("T", bound=msgspec.Struct)
_TRIES = 3
"""Askings until an answer must be valid."""


@dataclass
class _Spent:
    """What one question took so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    costs: list[float | None] = field(default_factory=list[float | None])

    def add(self, reply: Reply, cost: float | None) -> None:
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.costs.append(cost)

    @property
    def cost(self) -> float | None:
        known = [one for one in self.costs if one is not None]
        return sum(known) if len(known) == len(self.costs) else None

    def kept(self, text: str, shares: dict[str, float]) -> Kept:
        return Kept(
            text=text,
            probabilities=shares,
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
        )


class LiveAsker:
    """A model that answers questions, each of them once."""

    def __init__(self, caller: Caller, choice: JudgeChoice, cache: Cache) -> None:
        self.model = choice.model
        self.params: dict[str, Json] = {
            "temperature": choice.temperature,
            "max_tokens": choice.max_tokens,
        }
        self._caller = caller
        self._cache = cache
        self._choice = choice
        self._under_way: dict[str, asyncio.Task[Kept | Unscored | Failed]] = {}

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """The answer; what it took is written into the ledger."""
        address = address_of(question, self._choice)
        kept = self._cache.get(address)
        cached = kept is not None
        spent = _Spent()
        if kept is None:
            kept, cached = await self._together(address, question, spent)
        entry = _entry(address, kept, spent, cached=cached)
        if entry.calls:
            ledger.entries.append(entry)
        if isinstance(kept, Unscored | Failed):
            return kept
        found = read(kept.text, question.answer)
        if isinstance(found, Invalid):
            return Failed(kind="invalid_answer", message=f"kept under {address}: {found.why}")
        return Answer(value=found.value, probabilities=kept.probabilities)

    async def close(self) -> None:
        """Let go of the model and write down what was answered."""
        try:
            await self._caller.close()
        finally:
            self._cache.close()

    async def _together(
        self, address: str, question: Question[T], spent: _Spent
    ) -> tuple[Kept | Unscored | Failed, bool]:
        """The same question at the same time is one question; who comes second gets it from the
        cache, as it were."""
        if address in self._under_way:
            return await asyncio.shield(self._under_way[address]), True
        task = asyncio.create_task(self._asked(address, question, spent))
        self._under_way[address] = task
        try:
            return await task, False
        finally:
            del self._under_way[address]

    async def _asked(
        self, address: str, question: Question[T], spent: _Spent
    ) -> Kept | Unscored | Failed:
        try:
            kept = await self._by_word(question, spent) or await self._by_json(question, spent)
        except SpentError as error:
            return Unscored(reason=str(error))
        except RefusedError as error:
            return Failed(kind=error.trouble, message=str(error))
        if isinstance(kept, Kept):
            self._cache.put(address, kept)
        return kept

    async def _by_word(self, question: Question[T], spent: _Spent) -> Kept | None:
        """The choice between a few words by the probabilities of the first token, for models that
        do this better than JSON."""
        choice = words(question.answer, question.decides) if self._caller.words else ()
        if not choice:
            return None
        request = request_for(question, self._choice)
        *others, last = request.messages
        wanted = f"{last.text}\n\nAnswer with one word, {' or '.join(choice)}, and nothing else."
        messages = (*others, replace(last, text=wanted))
        reply = await self._call(replace(request, messages=messages, words=choice), spent)
        shares = chosen(reply.tokens[0].alternatives, choice) if reply.tokens else {}
        if not shares:
            return None
        likely = max(choice, key=lambda word: shares[word])
        names = [one.encode_name for one in msgspec.structs.fields(question.answer)]
        value = {**dict.fromkeys(names, ""), str(question.decides): likely}
        return spent.kept(msgspec.json.encode(value).decode(), shares)

    async def _by_json(self, question: Question[T], spent: _Spent) -> Kept | Failed:
        """The answer as JSON. A reply that is none is sent back with what is wrong with it."""
        request = request_for(question, self._choice)
        wrong = ""
        for _ in range(_TRIES):
            reply = await self._call(request, spent)
            found = self._valid(reply, question)
            if isinstance(found, Valid):
                text = msgspec.json.encode(found.value).decode()
                return spent.kept(text, _shares(reply, question))
            wrong = found.why
            request = replace(request, messages=again(request, reply.text, wrong))
        return Failed(kind="invalid_answer", message=f"{wrong} ({_TRIES} times asked)")

    def _valid(self, reply: Reply, question: Question[T]) -> Valid[T] | Invalid:
        if reply.cut:
            return Invalid(f"it was cut off after {self._choice.max_tokens} tokens: be brief")
        return check(reply.text, question.answer)

    async def _call(self, request: Request, spent: _Spent) -> Reply:
        def count() -> None:
            spent.calls += 1

        reply, cost = await self._caller.call(request, count)
        spent.add(reply, cost)
        return reply


def _shares(reply: Reply, question: Question[T]) -> dict[str, float]:
    if question.decides is None or not reply.tokens:
        return {}
    values = allowed(question.answer, question.decides)
    return probabilities(reply.tokens, question.decides, values)


def _entry(address: str, kept: Kept | Unscored | Failed, spent: _Spent, *, cached: bool) -> Entry:
    answered = isinstance(kept, Kept)
    took = kept if answered else spent
    return Entry(
        address=address,
        answered=answered,
        cached=cached,
        calls=took.calls,
        input_tokens=took.input_tokens,
        output_tokens=took.output_tokens,
        cost=took.cost,
    )
