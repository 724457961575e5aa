"""A metric that asks a model: the same as any other, but that its outcome must be waited for."""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

from karat.metrics.metric import Metric, Outcome
from karat.schema import Case, Failed, Trace, Unscored


class Judge(Metric, Protocol):
    """A metric that is asked with `judge` in place of `score`."""

    judged: ClassVar[bool] = True

    def score(self, case: Case, trace: Trace) -> Outcome:
        return Unscored(reason="a judge has to be waited for")

    async def judge(self, case: Case, trace: Trace) -> Outcome:
        """The outcome for one pair, once the model has answered."""
        ...


async def judge_pair(metric: Metric, case: Case, trace: Trace) -> Outcome:
    """The outcome for one pair. A judge that raises fails here, and nothing else suffers."""
    try:
        return await cast("Judge", metric).judge(case, trace)
    except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes data
        return Failed(kind=type(error).__name__, message=str(error))
