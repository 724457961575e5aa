"""Judges: which one is asked, which one was, and what that took."""

from __future__ import annotations

from carob.schema.base import Json, Struct


class JudgeSettings(Struct, frozen=True):
    """The model that a user wants to be asked, and how. Keys are never part of it: they come from
    the environment."""

    model: str = ""
    """Provider and model, such as `openai:gpt-5-mini` or `local:judge.gguf`; empty, if only metrics
    name one."""
    always: bool = False
    """Whether it is asked even for metrics that name another."""
    url: str | None = None
    """Where an OpenAI-compatible provider answers, if not at its usual address."""
    key_env: str | None = None
    """The environment variable that has the key, if not the usual one."""
    temperature: float | None = 0.0
    """`None` is the model's own, for models that take no other."""
    max_tokens: int = 1024
    """Tokens of one answer."""
    concurrency: int = 16
    """Calls at the same time, at most."""
    deadline: float = 60.0
    """Seconds for one call."""
    max_calls: int | None = None
    """Calls of the whole run."""
    max_cost: float | None = None
    """US dollars of the whole run."""


class JudgeSpec(Struct, frozen=True, omit_defaults=False):
    """A judge as it was used: a calibration holds for these four, and for no others."""

    model: str
    params: dict[str, Json]
    prompt: str
    """The digest of the words around the rubric."""
    rubric: str
    """The digest of the rubric."""


class JudgeCost(Struct, frozen=True, omit_defaults=False):
    """What it took to get one score. The same whether the answers came from the model or from the
    cache, so that a run that is made again is the same run."""

    model: str
    prompt: str
    """The digest of all that was sent."""
    samples: int
    """Answers that the score is made of."""
    calls: int
    """Calls that it took, with those that were repeated."""
    input_tokens: int
    output_tokens: int
    cost: float | None
    """US dollars; `None` if the price is not known."""


class JudgeUsage(Struct, frozen=True, omit_defaults=False):
    """What was asked for one metric in this very run: answers from the cache cost nothing."""

    answers: int = 0
    cached: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


class CostEstimate(Struct, frozen=True, omit_defaults=False):
    """What the judges of a run would be asked, by metric: tokens of answers and costs are the most
    that they can be, if every answer is good at once."""

    metrics: dict[str, JudgeUsage]
