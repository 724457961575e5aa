"""Judges: metrics that ask a model, the questions they ask and the answers they get.

A question is complete. The client that answers it knows nothing about metrics, and the judge
knows nothing about networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar, cast

import msgspec

from carob.metrics.ledger import Ledger
from carob.metrics.metric import Metric, Outcome
from carob.metrics.needs import known_gap
from carob.schema import Case, Failed, Json, Trace, Unscored

NO_JUDGE = Unscored(
    reason="no judge is configured: name one with --judge PROVIDER:MODEL or in carob.toml"
)

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """A prompt, and the type that the answer must have."""

    instructions: str
    """The task. Written by Carob or the rubric's author, and trusted."""
    prompt: str
    """The fenced material to judge. It comes from the agent, and is not trusted."""
    answer: type[T]
    """A struct whose types and constraints the answer must satisfy."""
    decides: str | None = None
    """The field whose token probabilities are used: a number of few digits or a literal."""
    plain: str | None = None
    """The field that a reply without a JSON object is the text of, for answers in prose."""
    sample: int = 0
    """Index of this sample among repetitions of the same question."""


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """A valid answer."""

    value: T
    probabilities: Mapping[str, float] = field(default_factory=dict[str, float])
    """Probability of each value of the deciding field, by its JSON text without quotes. They sum to
    1. Empty if the provider does not return probabilities."""


class Ask(Protocol):
    """Asks one question. Returns why there is no answer if a limit was reached or a call failed."""

    async def __call__(self, question: Question[T]) -> Answer[T] | Unscored | Failed: ...


class Judge(Metric, Protocol):
    """A metric with an asynchronous `judge` in place of `score`.

    It builds questions and turns the answers into a score.
    """

    judged: ClassVar[bool] = True

    @property
    def prompt(self) -> str:
        """Digest of the prompt without the rubric."""
        ...

    @property
    def rubric(self) -> str:
        """Digest of the rubric."""
        ...

    @property
    def judge_model(self) -> str | None:
        """The model named in the metric's own settings, as an ADK criterion may do."""
        ...

    def score(self, case: Case, trace: Trace) -> Outcome:
        return NO_JUDGE

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        """Score one pair by asking the model."""
        ...


class JudgeClient(Protocol):
    """Sends questions to one model."""

    model: str
    params: dict[str, Json]
    """Other settings that affect answers, such as the temperature."""

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """Return the answer, and add its cost to the ledger."""
        ...

    async def close(self) -> None:
        """Close connections and flush the cache."""
        ...


async def judge_pair(
    metric: Metric, case: Case, trace: Trace, client: JudgeClient, ledger: Ledger
) -> Outcome:
    """Score one pair. An exception becomes `Failed`, so that other pairs are still scored."""

    async def ask(question: Question[T]) -> Answer[T] | Unscored | Failed:
        return await client.ask(question, ledger)

    gap = known_gap(metric, trace)
    if gap is not None:  # asking costs money, and the answer would rest on half a trace
        return Unscored(reason=gap)
    try:
        return await cast("Judge", metric).judge(case, trace, ask)
    except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes data
        return Failed(kind=type(error).__name__, message=str(error))
