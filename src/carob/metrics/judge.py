"""A metric that asks a model: the same as any other, but that its outcome must be waited for."""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

from carob.metrics.ledger import Ledger
from carob.metrics.metric import Metric, Outcome
from carob.metrics.question import Answer, Ask, Question, T
from carob.schema import Case, Failed, Json, Trace, Unscored

NO_JUDGE = Unscored(
    reason="no judge is configured: name one with --judge PROVIDER:MODEL or in carob.toml"
)


class Judge(Metric, Protocol):
    """A metric that is asked with `judge` in place of `score`. It makes questions and makes a
    score of their answers; who answers is not its concern."""

    judged: ClassVar[bool] = True

    @property
    def prompt(self) -> str:
        """The digest of the words around the rubric."""
        ...

    @property
    def rubric(self) -> str:
        """The digest of the rubric."""
        ...

    @property
    def judge_model(self) -> str | None:
        """The model that its own settings name, such as those of an ADK criterion."""
        ...

    def score(self, case: Case, trace: Trace) -> Outcome:
        return NO_JUDGE

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        """The outcome for one pair, once the model has answered."""
        ...


class Asker(Protocol):
    """A model that answers questions."""

    model: str
    params: dict[str, Json]
    """What else decides its answers, such as the temperature."""

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        """The answer, with what it took written into the ledger."""
        ...

    async def close(self) -> None:
        """Let go of connections and keep what is to be kept."""
        ...


async def judge_pair(
    metric: Metric, case: Case, trace: Trace, asker: Asker, ledger: Ledger
) -> Outcome:
    """The outcome for one pair. A judge that raises fails here, and nothing else suffers."""

    async def ask(question: Question[T]) -> Answer[T] | Unscored | Failed:
        return await asker.ask(question, ledger)

    try:
        return await cast("Judge", metric).judge(case, trace, ask)
    except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes data
        return Failed(kind=type(error).__name__, message=str(error))
