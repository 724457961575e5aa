"""Judges: which model to ask, which one was asked, and what it cost."""

from __future__ import annotations

from typing import Literal, NamedTuple

from carob.schema.base import Json, Struct
from carob.schema.trust import SensitiveSetting


class JudgeSettings(Struct, frozen=True):
    """The model to ask, and how. API keys are never included: they come from the environment."""

    model: str = ""
    """Provider and model, such as `openai:gpt-5-mini` or `local:judge.gguf`; empty if only metrics
    set one."""
    always: bool = False
    """Whether to use this model even for metrics that set another."""
    url: str | None = None
    """The base URL of an OpenAI-compatible provider, if not the default."""
    key_env: str | None = None
    """The environment variable with the API key, if not the default."""
    temperature: float | None = 0.0
    """`None` uses the model's default, for models that accept no other."""
    max_tokens: int = 1024
    """Maximum tokens per answer."""
    concurrency: int = 16
    """Maximum concurrent calls."""
    deadline: float = 60.0
    """Timeout of one call in seconds."""
    max_calls: int | None = None
    """Maximum calls per run."""
    max_cost: float | None = None
    """Maximum cost per run in US dollars."""
    withheld: tuple[SensitiveSetting, ...] = ()
    """Settings of a file that the user has not trusted. Without them the model would be asked
    somewhere else, so it cannot be asked at all."""
    source: str = ""
    """The file with the withheld settings."""


class CallLimits(NamedTuple):
    """What a judge may ask and spend, in all processes of a run together."""

    max_calls: int | None
    max_cost: float | None
    concurrency: int
    """Maximum concurrent calls of one model."""
    seconds: float
    """The longest time that a call takes."""


class CallPermit(NamedTuple):
    """Whether a call may be made: yes with a `ticket`, not yet without one, or never."""

    ticket: str | None = None
    refused: Literal["calls", "cost"] | None = None


def names_weights(model: str) -> bool:
    """Whether a model is a file on this machine. Native code reads it, and its prompt template is
    a program, so that a file that comes with a repository needs trust."""
    return model.startswith("local:") and model != "local:smollm2"


class JudgeSpec(Struct, frozen=True, omit_defaults=False):
    """A judge as used in a run. A calibration is valid for exactly these four values."""

    model: str
    params: dict[str, Json]
    prompt: str
    """The digest of the prompt around the rubric."""
    rubric: str
    """The digest of the rubric."""


class JudgeCost(Struct, frozen=True, omit_defaults=False):
    """The cost of one score. It is the same whether answers came from the model or the cache, so
    that a repeated run has the same id."""

    model: str
    prompt: str
    """The digest of everything that was sent."""
    samples: int
    """The number of answers behind the score."""
    calls: int
    """The number of calls including retries."""
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In US dollars; `None` if the price is unknown."""


class JudgeUsage(Struct, frozen=True, omit_defaults=False):
    """The judge usage of one metric in the current run, in which cached answers cost nothing."""

    answers: int = 0
    cached: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


class CostEstimate(Struct, frozen=True, omit_defaults=False):
    """The estimated judge usage of a run, by metric. Output tokens and costs are upper bounds,
    not counting retries."""

    metrics: dict[str, JudgeUsage]
