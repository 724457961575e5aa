"""What judges said of parts of a conversation, put together to one outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeAlias

from carob.judges.rubrics.samples import Sampled
from carob.metrics import Outcome
from carob.metrics.judge import T
from carob.metrics.turns import join_reasons
from carob.schema import Failed, Json, Score, Unscored

_WIDTH = 400
_STEERED = "the material has what looks like an attempt to steer the judge"


@dataclass(frozen=True, kw_only=True)
class Rated:
    """One turn or one conversation that was scored: `points` of `out_of`."""

    points: float
    out_of: int = 1
    reason: str = ""
    agreement: float | None = None
    """Share of the samples that agree with the result; `None` if nobody was asked."""
    samples: Sequence[dict[str, Json]] = ()
    failed: Sequence[Failed] = ()
    """Samples that were not to be had."""
    attempts: Sequence[str] = ()
    told: Sequence[dict[str, Json]] = ()
    """The verdict on each property, or the label of each sentence."""
    probable: bool = False
    """Whether the points come from the probabilities of tokens."""

    @property
    def value(self) -> float:
        return self.points / self.out_of


@dataclass(frozen=True)
class Trouble:
    """Why a judge did not answer. It is the trouble of the whole outcome: a mean over what could
    be had would be another number."""

    outcome: Unscored | Failed


Rating: TypeAlias = Rated | Unscored | Trouble


def trouble(sampled: Sampled[T]) -> Trouble | None:
    """Why there is no result; `None` if there is one."""
    return Trouble(sampled.trouble) if sampled.trouble is not None else None


def together(ratings: Sequence[Rating], *, by_turn: bool, told: str = "") -> Outcome:
    """The outcome of all; `told` is what the parts of a rating are called in the details."""
    stopped = next(((n, one) for n, one in enumerate(ratings, 1) if isinstance(one, Trouble)), None)
    if stopped:
        return _placed(*stopped, several=by_turn and len(ratings) > 1)
    rated = {n: one for n, one in enumerate(ratings, 1) if isinstance(one, Rated)}
    if not rated:
        reasons = dict.fromkeys(one.reason for one in ratings if isinstance(one, Unscored))
        return Unscored(reason="; ".join(reasons) or "there are no turns")
    turns = tuple([one.value if isinstance(one, Rated) else None for one in ratings])
    several = by_turn and len(ratings) > 1
    points = fsum(one.points for one in rated.values())
    return Score(
        value=points / sum(one.out_of for one in rated.values()),
        reason=join_reasons((reason(one) for one in rated.values()), turns),
        turns=turns if by_turn else (),
        details=_details(rated, several=several, told=told),
    )


def reason(one: Rated) -> str:
    """Why, and what else a reader must know."""
    line = " ".join(one.reason.split())
    why = line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
    steered = f"{_STEERED}: {one.attempts[0]}" if one.attempts else ""
    return "; ".join(text for text in (why, steered) if text)


def _placed(number: int, stopped: Trouble, *, several: bool) -> Outcome:
    outcome = stopped.outcome
    if not several or isinstance(outcome, Unscored):
        return outcome
    return Failed(kind=outcome.kind, message=f"turn {number}: {outcome.message}")


def _details(rated: Mapping[int, Rated], *, several: bool, told: str) -> dict[str, Json]:
    def placed(rows: Mapping[int, Sequence[dict[str, Json]]]) -> list[Json]:
        marked: Iterator[tuple[dict[str, Json], dict[str, Json]]] = (
            ({"turn": number} if several else {}, row) for number in rows for row in rows[number]
        )
        return [mark | row for mark, row in marked]

    agreements = [one.agreement for one in rated.values() if one.agreement is not None]
    attempts: list[Json] = [
        f"turn {number}, {found}" if several else found
        for number, one in rated.items()
        for found in one.attempts
    ]
    failed: list[Json] = [
        f"{one.kind}: {one.message}" for rating in rated.values() for one in rating.failed
    ]
    made: dict[str, Json] = {
        "samples": placed({number: one.samples for number, one in rated.items()}),
        "agreement": fsum(agreements) / len(agreements) if agreements else None,
        "attempts": attempts,
        "from": _source(rated),
    }
    if told:
        made[told] = placed({number: one.told for number, one in rated.items()})
    if failed:
        made["failed_samples"] = failed
    return made


def _source(rated: Mapping[int, Rated]) -> str:
    asked = [one for one in rated.values() if one.samples]
    return "token probabilities" if asked and all(one.probable for one in asked) else "answers"
