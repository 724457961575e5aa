"""Clients that answer questions from the cache, or by asking the model until an answer is valid."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from carob.judges.client.answer_type import choice_words, list_values
from carob.judges.client.budget import BudgetExceededError, cost, estimate_tokens
from carob.judges.client.cache import Cache, CachedAnswer
from carob.judges.client.parse import InvalidAnswer, ValidAnswer, decode_answer, parse_reply
from carob.judges.client.probabilities import value_probabilities, word_probabilities
from carob.judges.client.request import build_request, cache_key, retry_messages
from carob.judges.client.retry import RetryingCaller
from carob.judges.model import JudgeReply, JudgeRequest, ProviderError
from carob.metrics import Answer, Ledger, LedgerEntry, Question
from carob.schema import Failed, Json, JudgeSettings, Unscored

T = TypeVar("T", bound=msgspec.Struct)
_MAX_TRIES = 3
"""How often a question is asked until its answer is valid."""


@dataclass
class _QuestionUsage:
    """The calls, tokens and cost of one question so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    costs: list[float | None] = field(default_factory=list[float | None])

    def add(self, reply: JudgeReply, cost: float | None) -> None:
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.costs.append(cost)

    @property
    def cost(self) -> float | None:
        known_costs = [cost for cost in self.costs if cost is not None]
        return sum(known_costs) if len(known_costs) == len(self.costs) else None

    def to_cached_answer(self, text: str, probabilities: dict[str, float]) -> CachedAnswer:
        return CachedAnswer(
            text=text,
            probabilities=probabilities,
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
        )


class ModelClient:
    """Asks one model, and asks each question only once."""

    def __init__(self, caller: RetryingCaller, settings: JudgeSettings, cache: Cache) -> None:
        self.model = settings.model
        self.params: dict[str, Json] = {
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
        }
        self._caller = caller
        self._cache = cache
        self._settings = settings
        self._in_progress: dict[str, asyncio.Task[CachedAnswer | Unscored | Failed]] = {}

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """Return the answer, and add its cost to the ledger."""
        key = cache_key(question, self._settings)
        result: CachedAnswer | Unscored | Failed | None = self._cache.get(key)
        cached = result is not None
        usage = _QuestionUsage()
        if result is None:
            result, cached = await self._ask_once(key, question, usage)
        entry = _ledger_entry(key, result, usage, cached=cached)
        if entry.calls:
            ledger.entries.append(entry)
        if isinstance(result, Unscored | Failed):
            return result
        decoded = decode_answer(result.text, question.answer)
        if isinstance(decoded, InvalidAnswer):
            return Failed(kind="invalid_answer", message=f"cached as {key}: {decoded.reason}")
        return Answer(value=decoded.value, probabilities=result.probabilities)

    async def close(self) -> None:
        """Close the model and write pending answers."""
        try:
            await self._caller.close()
        finally:
            self._cache.close()

    async def _ask_once(
        self, key: str, question: Question[T], usage: _QuestionUsage
    ) -> tuple[CachedAnswer | Unscored | Failed, bool]:
        """Return the result, and whether another task asked for it.

        Identical concurrent questions share one request. The second asker counts as answered from
        the cache, so that the ledger does not depend on timing.
        """
        if key in self._in_progress:
            return await asyncio.shield(self._in_progress[key]), True
        task = asyncio.create_task(self._ask_model(key, question, usage))
        self._in_progress[key] = task
        try:
            return await task, False
        finally:
            del self._in_progress[key]

    async def _ask_model(
        self, key: str, question: Question[T], usage: _QuestionUsage
    ) -> CachedAnswer | Unscored | Failed:
        try:
            by_word = await self._ask_for_word(question, usage)
            result = by_word or await self._ask_for_json(question, usage)
        except BudgetExceededError as error:
            return Unscored(reason=str(error))
        except ProviderError as error:
            return Failed(kind=error.kind, message=str(error))
        if isinstance(result, CachedAnswer):
            self._cache.put(key, result)
        return result

    async def _ask_for_word(
        self, question: Question[T], usage: _QuestionUsage
    ) -> CachedAnswer | None:
        """Choose between a few words by the probabilities of the first token, for models that are
        better at this than at JSON. `None` if that is not possible."""
        words = ()
        if self._caller.prefers_words:
            words = choice_words(question.answer, question.decides)
        if not words:
            return None
        request = build_request(question, self._settings)
        *earlier, last = request.messages
        text = f"{last.text}\n\nAnswer with one word, {' or '.join(words)}, and nothing else."
        messages = (*earlier, replace(last, text=text))
        reply = await self._call(replace(request, messages=messages, words=words), usage)
        shares = word_probabilities(reply.tokens[0].alternatives, words) if reply.tokens else {}
        if not shares:
            return None
        likeliest = max(words, key=lambda word: shares[word])
        names = [item.encode_name for item in msgspec.structs.fields(question.answer)]
        value = {**dict.fromkeys(names, ""), str(question.decides): likeliest}
        return usage.to_cached_answer(msgspec.json.encode(value).decode(), shares)

    async def _ask_for_json(
        self, question: Question[T], usage: _QuestionUsage
    ) -> CachedAnswer | Failed:
        """Ask for JSON. An invalid reply is sent back with the problem."""
        request = build_request(question, self._settings)
        problem = ""
        for _ in range(_MAX_TRIES):
            reply = await self._call(request, usage)
            parsed = self._parse(reply, question)
            if isinstance(parsed, ValidAnswer):
                text = msgspec.json.encode(parsed.value).decode()
                return usage.to_cached_answer(text, _probabilities(reply, question))
            problem = parsed.reason
            request = replace(request, messages=retry_messages(request, reply.text, problem))
        return Failed(kind="invalid_answer", message=f"{problem} (asked {_MAX_TRIES} times)")

    def _parse(self, reply: JudgeReply, question: Question[T]) -> ValidAnswer[T] | InvalidAnswer:
        if reply.truncated:
            limit = self._settings.max_tokens
            return InvalidAnswer(f"it was cut off after {limit} tokens: be brief")
        if question.plain and "{" not in reply.text:
            return ValidAnswer(question.answer(**{question.plain: reply.text}))
        return parse_reply(reply.text, question.answer)

    async def _call(self, request: JudgeRequest, usage: _QuestionUsage) -> JudgeReply:
        def count_call() -> None:
            usage.calls += 1

        reply, cost = await self._caller.call(request, count_call)
        usage.add(reply, cost)
        return reply


def _probabilities(reply: JudgeReply, question: Question[T]) -> dict[str, float]:
    if question.decides is None or not reply.tokens:
        return {}
    values = list_values(question.answer, question.decides)
    return value_probabilities(reply.tokens, question.decides, values)


def _ledger_entry(
    key: str, result: CachedAnswer | Unscored | Failed, usage: _QuestionUsage, *, cached: bool
) -> LedgerEntry:
    answered = isinstance(result, CachedAnswer)
    source = result if answered else usage
    return LedgerEntry(
        address=key,
        answered=answered,
        cached=cached,
        calls=source.calls,
        input_tokens=source.input_tokens,
        output_tokens=source.output_tokens,
        cost=source.cost,
    )


class Estimator:
    """Estimates what a run would ask, without asking.

    Every question counts as answered at the first try and at full length. A question that depends
    on the answer to another one is counted only if that answer is cached.
    """

    def __init__(self, settings: JudgeSettings, cache: Cache) -> None:
        self.model = settings.model
        self.params: dict[str, Json] = {}
        self._settings = settings
        self._cache = cache
        self._seen: set[str] = set()

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """Return the answer if it is cached, and add the estimated cost to the ledger."""
        key = cache_key(question, self._settings)
        answer = self._cache.get(key)
        tokens = estimate_tokens(build_request(question, self._settings))
        ledger.entries.append(
            LedgerEntry(
                address=key,
                answered=False,
                cached=answer is not None or key in self._seen,
                calls=1,
                input_tokens=tokens,
                output_tokens=self._settings.max_tokens,
                cost=cost(self.model, tokens, self._settings.max_tokens),
            )
        )
        self._seen.add(key)
        decoded = decode_answer(answer.text, question.answer) if answer else None
        if answer is None or decoded is None or isinstance(decoded, InvalidAnswer):
            return Unscored(reason="estimated, not asked")
        return Answer(value=decoded.value, probabilities=answer.probabilities)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""
