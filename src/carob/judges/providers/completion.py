"""Decode chat completions."""

from __future__ import annotations

from math import exp

import msgspec

from carob.judges.model import JudgeReply, ProviderError, RateLimit, Token
from carob.judges.providers.errors import quote
from carob.schema.base import prepare_type


class _Alternative(msgspec.Struct):
    token: str
    logprob: float | None = None
    """`None` stands for minus infinity, which JSON cannot express."""


class _ChosenToken(_Alternative):
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_ChosenToken] | None = None


class _CompletionMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _CompletionMessage
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _CompletionUsage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _CompletionUsage | None = None


_decoder = msgspec.json.Decoder(prepare_type(_Completion))


def read_completion(name: str, body: bytes, rate_limit: RateLimit | None) -> JudgeReply:
    """Decode the reply in a response body. Raises `ProviderError` if there is none."""
    try:
        completion = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProviderError(
            "malformed", f"{name} did not return a chat completion: {error}"
        ) from None
    if not completion.choices:
        raise ProviderError("malformed", f"{name} returned a completion without choices")
    choice = completion.choices[0]
    _check_declined(name, choice)
    usage = completion.usage or _CompletionUsage()
    return JudgeReply(
        text=choice.message.content or "",
        truncated=choice.finish_reason == "length",
        tokens=_tokens(choice.logprobs),
        input_tokens=max(0, usage.prompt_tokens or 0),
        output_tokens=max(0, usage.completion_tokens or 0),
        rate_limit=rate_limit,
    )


def _check_declined(name: str, choice: _Choice) -> None:
    if choice.message.refusal:
        raise ProviderError(
            "rejected", f"{name} declined to answer: {quote(choice.message.refusal)}"
        )
    if choice.finish_reason == "content_filter":
        raise ProviderError("rejected", f"the content filter of {name} stopped the answer")


def _tokens(logprobs: _Logprobs | None) -> tuple[Token, ...]:
    tokens = (logprobs and logprobs.content) or []
    return tuple(Token(text=token.token, alternatives=_probabilities(token)) for token in tokens)


def _probabilities(chosen: _ChosenToken) -> dict[str, float]:
    # Different tokens may have the same text, so they add up; and the chosen token is not always
    # among its own alternatives.
    shares: dict[str, float] = {}
    for alternative in chosen.top_logprobs or []:
        before = shares.get(alternative.token, 0.0)
        shares[alternative.token] = min(1.0, before + _probability(alternative))
    shares.setdefault(chosen.token, _probability(chosen))
    return shares


def _probability(alternative: _Alternative) -> float:
    return 0.0 if alternative.logprob is None else exp(min(0.0, alternative.logprob))
