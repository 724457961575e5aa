"""Several askings of the same question, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Generic

from carob.metrics.judge import Answer, Ask, Question, T
from carob.schema import Failed, Unscored

__all__ = ["Sampled", "agreement", "majority", "median", "sampled"]


@dataclass(frozen=True, kw_only=True)
class Sampled(Generic[T]):
    """What came of asking several times. A failed sample does not void the others."""

    answers: tuple[Answer[T], ...]
    failures: tuple[Failed, ...] = ()
    unscored: Unscored | None = None
    """The first answer that was not to be had, such as one beyond the limit of calls."""

    @property
    def trouble(self) -> Unscored | Failed | None:
        """Why there is no result; `None` if there is one."""
        if self.unscored is not None or self.answers:
            return self.unscored
        return self.failures[0]


async def sampled(question: Question[T], count: int, ask: Ask) -> Sampled[T]:
    """Ask `count` times at once."""
    import asyncio  # late: who only lists metrics asks nobody

    got = await asyncio.gather(
        *(ask(replace(question, sample=sample)) for sample in range(max(count, 1)))
    )
    return Sampled(
        answers=tuple(one for one in got if isinstance(one, Answer)),
        failures=tuple(one for one in got if isinstance(one, Failed)),
        unscored=next((one for one in got if isinstance(one, Unscored)), None),
    )


def majority(votes: Sequence[bool]) -> bool:
    """Are more than half in favour? A tie is not enough."""
    return 2 * sum(votes) > len(votes)


def agreement(values: Sequence[float], result: float, *, within: float = 0.5) -> float:
    """Share of the values that are less than `within` away from the result."""
    return sum(abs(value - result) < within for value in values) / len(values)
