"""The `conciseness` metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored
from carob.text.tokens import split_words

_FACTOR = 1.5
_EXTRA_WORDS = 10  # always allowed: room for a greeting


@dataclass(frozen=True, kw_only=True)
class Conciseness(Metric):
    """Whether the response is as short as the expected response.

    min(1, allowed words / words), per turn, then the mean. Allowed are 1.5 times the words of the
    expected response, or 10 more than it has, whichever is more. `words` sets the number of allowed
    words for all responses.

    Measured: accuracy 1.00, κ 1.00 on 91 labelled texts.
    """

    name: ClassVar[str] = "conciseness"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    words: int | None = None

    def __post_init__(self) -> None:
        if self.words is not None and self.words < 1:
            raise ValueError(f"expected at least 1 word, got {self.words}")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, self._rate, needs_reference=self.words is None)

    def _rate(self, response: RecordedResponse) -> Score:
        allowed = self.words or _max_words(len(split_words(response.reference or "")))
        length = len(split_words(response.response))
        if length <= allowed:
            return Score(value=1.0)
        return Score(value=allowed / length, reason=f"{length} words, allowed {allowed}")


def _max_words(expected: int) -> int:
    return max(int(_FACTOR * expected), expected + _EXTRA_WORDS)
