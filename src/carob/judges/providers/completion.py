"""A chat completion as it comes over the wire."""

from __future__ import annotations

from math import exp

import msgspec

from carob.judges.model import Allowance, RefusedError, Reply, Token
from carob.judges.providers.refusal import short


class _Alternative(msgspec.Struct):
    token: str
    logprob: float | None = None
    """`None` stands for minus infinity, which JSON does not have."""


class _Chosen(_Alternative):
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Chosen] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


_decoder = msgspec.json.Decoder(_Completion)


def read_completion(name: str, body: bytes, allowance: Allowance | None) -> Reply:
    """The reply in a body, or `RefusedError` if there is none."""
    try:
        completion = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedError(
            "malformed", f"{name} did not answer with a chat completion: {error}"
        ) from None
    if not completion.choices:
        raise RefusedError("malformed", f"{name} answered without a choice")
    choice = completion.choices[0]
    _declined(name, choice)
    usage = completion.usage or _Usage()
    return Reply(
        text=choice.message.content or "",
        cut=choice.finish_reason == "length",
        tokens=_tokens(choice.logprobs),
        input_tokens=max(0, usage.prompt_tokens or 0),
        output_tokens=max(0, usage.completion_tokens or 0),
        allowance=allowance,
    )


def _declined(name: str, choice: _Choice) -> None:
    if choice.message.refusal:
        raise RefusedError(
            "rejected", f"{name} declined to answer: {short(choice.message.refusal)}"
        )
    if choice.finish_reason == "content_filter":
        raise RefusedError("rejected", f"the content filter of {name} stopped the answer")


def _tokens(logprobs: _Logprobs | None) -> tuple[Token, ...]:
    chosen = (logprobs and logprobs.content) or []
    return tuple(Token(text=one.token, alternatives=_probabilities(one)) for one in chosen)


def _probabilities(chosen: _Chosen) -> dict[str, float]:
    """By text; two tokens may read the same, and one that was chosen is not always listed."""
    found: dict[str, float] = {}
    for one in chosen.top_logprobs or []:
        found[one.token] = min(1.0, found.get(one.token, 0.0) + _probability(one))
    found.setdefault(chosen.token, _probability(chosen))
    return found


def _probability(one: _Alternative) -> float:
    return 0.0 if one.logprob is None else exp(min(0.0, one.logprob))
