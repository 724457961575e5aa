"""Metrics that look for a text in the response."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.calls import value
from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.patterns import pattern
from carob.metrics.texts import Answer, against_reference, of_answers
from carob.schema import Case, Score, Trace, Unscored


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Metric):
    """Whether the response is the expected one, blanks at both ends aside.

    1 or 0 per turn, then the mean. `ignore_case` and `ignore_punctuation` do what they say.
    """

    name: ClassVar[str] = "exact_match"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    ignore_case: bool = False
    ignore_punctuation: bool = False

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return against_reference(case, trace, self._rate)

    def _rate(self, reference: str, response: str) -> Score:
        if self._plain(reference) == self._plain(response):
            return Score(value=1.0)
        return Score(value=0.0, reason=f"expected {value(reference)}, got {value(response)}")

    def _plain(self, text: str) -> str:
        if self.ignore_punctuation:
            text = " ".join(re.findall(r"\w+", text))
        return (text.casefold() if self.ignore_case else text).strip()


@dataclass(frozen=True, kw_only=True)
class Contains(Metric):
    """Share of the texts the response must contain that the responses of the trace contain.

    The texts are those of the case, and `texts` for every case.
    """

    name: ClassVar[str] = "contains"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.contains")

    texts: tuple[str, ...] = ()
    ignore_case: bool = False

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        wanted = (*(case.contains or ()), *self.texts)
        if not wanted:
            return Unscored(reason="the case names no text that the response must contain")
        said = [turn.response for turn in trace.turns if turn.response is not None]
        if not said:
            return Unscored(reason="no response was recorded")
        text = self._plain("\n".join(said))
        missing = [part for part in wanted if self._plain(part) not in text]
        reason = f"missing {', '.join(map(value, missing))}" if missing else ""
        return Score(value=(len(wanted) - len(missing)) / len(wanted), reason=reason)

    def _plain(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, kw_only=True)
class Regex(Metric):
    """Share of the responses in which `pattern`, a Python regular expression, is found.

    No pattern can hang a run: one with several repetitions or choices is run without going back,
    and is refused if it needs to (back references, look-behind, atomic groups).
    """

    name: ClassVar[str] = "regex"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response",)

    pattern: str

    def __post_init__(self) -> None:
        pattern(self.pattern)  # whatever is wrong with it is said before anything runs

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return of_answers(case, trace, self._rate)

    def _rate(self, answer: Answer) -> Score:
        if pattern(self.pattern).search(answer.response):
            return Score(value=1.0)
        return Score(value=0.0, reason=f"{self.pattern!r} is not found in {value(answer.response)}")
