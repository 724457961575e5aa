"""Combine samples into the result of a turn, and turns into one outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Generic, TypeAlias

from carob.metrics import Outcome
from carob.metrics.judge import Answer, Ask, Question, T
from carob.metrics.turns import join_reasons, join_unscored
from carob.schema import Failed, Json, Score, Unscored

_MAX_REASON = 400
_STEERED = "the material has what looks like an attempt to steer the judge"


@dataclass(frozen=True, kw_only=True)
class SampledAnswers(Generic[T]):
    """The results of asking a question several times. A failed sample does not void the others."""

    answers: tuple[Answer[T], ...]
    failures: tuple[Failed, ...] = ()
    unscored: Unscored | None = None
    """The first sample that was not asked, for example because of the call limit."""

    @property
    def failure(self) -> JudgeFailure | None:
        """Why there is no result; `None` if there is one."""
        if self.unscored is not None:
            return JudgeFailure(self.unscored)
        return None if self.answers else JudgeFailure(self.failures[0])


@dataclass(frozen=True)
class JudgeFailure:
    """Why a judge did not answer. One failure fails the whole outcome: a mean over the other turns
    would be a different number."""

    outcome: Unscored | Failed


@dataclass(frozen=True, kw_only=True)
class ScoredPart:
    """A scored turn or conversation: `points` of `out_of`."""

    points: float
    out_of: int = 1
    reason: str = ""
    agreement: float | None = None
    """Share of the samples that agree with the result; `None` if no model was asked."""
    samples: Sequence[dict[str, Json]] = ()
    failed: Sequence[Failed] = ()
    """Samples without an answer."""
    attempts: Sequence[str] = ()
    """Suspected prompt injections in the material."""
    items: Sequence[dict[str, Json]] = ()
    """The verdict on each property, or the label of each sentence."""
    from_probabilities: bool = False
    """Whether the points come from token probabilities."""

    @property
    def value(self) -> float:
        return self.points / self.out_of


PartResult: TypeAlias = ScoredPart | Unscored | JudgeFailure


async def ask_samples(question: Question[T], count: int, ask: Ask) -> SampledAnswers[T]:
    """Ask the same question `count` times concurrently."""
    import asyncio  # late: listing metrics does not need it

    results = await asyncio.gather(
        *(ask(replace(question, sample=sample)) for sample in range(max(count, 1)))
    )
    return SampledAnswers(
        answers=tuple(result for result in results if isinstance(result, Answer)),
        failures=tuple(result for result in results if isinstance(result, Failed)),
        unscored=next((result for result in results if isinstance(result, Unscored)), None),
    )


def majority(votes: Sequence[bool]) -> bool:
    """Whether more than half of the votes are yes. A tie is a no."""
    return 2 * sum(votes) > len(votes)


def agreement(values: Sequence[float], result: float, *, within: float = 0.5) -> float:
    """Return the share of the values that are less than `within` away from the result."""
    return sum(abs(value - result) < within for value in values) / len(values)


def combine_results(
    results: Sequence[PartResult], *, by_turn: bool, items_key: str = ""
) -> Outcome:
    """Combine the results of all turns. `items_key` names the items in the details."""
    several = by_turn and len(results) > 1
    for number, result in enumerate(results, 1):
        if isinstance(result, JudgeFailure):
            return _failure_outcome(number, result.outcome, several=several)
    scored = {n: result for n, result in enumerate(results, 1) if isinstance(result, ScoredPart)}
    if not scored:
        return join_unscored([item for item in results if isinstance(item, Unscored)])
    turns = tuple([item.value if isinstance(item, ScoredPart) else None for item in results])
    points = fsum(part.points for part in scored.values())
    return Score(
        value=points / sum(part.out_of for part in scored.values()),
        reason=join_reasons((_full_reason(part) for part in scored.values()), turns),
        turns=turns if by_turn else (),
        details=_details(scored, several=several, items_key=items_key),
    )


def _full_reason(part: ScoredPart) -> str:
    line = " ".join(part.reason.split())
    reason = line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"
    steered = f"{_STEERED}: {part.attempts[0]}" if part.attempts else ""
    return "; ".join(text for text in (reason, steered) if text)


def _failure_outcome(number: int, outcome: Unscored | Failed, *, several: bool) -> Outcome:
    if not several or isinstance(outcome, Unscored):
        return outcome
    return Failed(kind=outcome.kind, message=f"turn {number}: {outcome.message}")


def _details(scored: Mapping[int, ScoredPart], *, several: bool, items_key: str) -> dict[str, Json]:
    def with_turn(rows: Mapping[int, Sequence[dict[str, Json]]]) -> list[Json]:
        numbered: Iterator[tuple[dict[str, Json], dict[str, Json]]] = (
            ({"turn": number} if several else {}, row) for number in rows for row in rows[number]
        )
        return [turn | row for turn, row in numbered]

    agreements = [part.agreement for part in scored.values() if part.agreement is not None]
    attempts: list[Json] = [
        f"turn {number}, {attempt}" if several else attempt
        for number, part in scored.items()
        for attempt in part.attempts
    ]
    failed: list[Json] = [
        f"{failure.kind}: {failure.message}" for part in scored.values() for failure in part.failed
    ]
    details: dict[str, Json] = {
        "samples": with_turn({number: part.samples for number, part in scored.items()}),
        "agreement": fsum(agreements) / len(agreements) if agreements else None,
        "attempts": attempts,
        "from": _source(scored),
    }
    if items_key:
        details[items_key] = with_turn({number: part.items for number, part in scored.items()})
    if failed:
        details["failed_samples"] = failed
    return details


def _source(scored: Mapping[int, ScoredPart]) -> str:
    with_samples = [part for part in scored.values() if part.samples]
    probable = with_samples and all(part.from_probabilities for part in with_samples)
    return "token probabilities" if probable else "answers"
