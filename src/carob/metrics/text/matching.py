"""Metrics that compare or search the text of responses: equality, substrings, patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from unicodedata import category, normalize

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.patterns import compile_pattern
from carob.metrics.text.responses import (
    NO_RESPONSE,
    RecordedResponse,
    missing_response,
    rate_against_reference,
    rate_responses,
)
from carob.metrics.tools.calls import format_value
from carob.schema import Case, Score, Trace, Turn, Unscored


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Metric):
    """Whether the response equals the expected response, ignoring surrounding whitespace.

    1 or 0 per turn, then the mean. Both encodings of `é` are equal. `ignore_case` ignores upper
    and lower case; `ignore_punctuation` compares words only.
    """

    name: ClassVar[str] = "exact_match"
    version: ClassVar[int] = 4
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    ignore_case: bool = False
    ignore_punctuation: bool = False

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_against_reference(case, trace, self._rate)

    def _rate(self, reference: str, response: str) -> Score:
        if self._normalize(reference) == self._normalize(response):
            return Score(value=1.0)
        return Score(
            value=0.0, reason=f"expected {format_value(reference)}, got {format_value(response)}"
        )

    def _normalize(self, text: str) -> str:
        text = normalize("NFC", text)
        if self.ignore_punctuation:
            words = " ".join("".join(map(_space_out, text)).split())
            text = words or text  # without words, `👍` would equal `👎` and an empty text
        return (text.casefold() if self.ignore_case else text).strip()


@dataclass(frozen=True, kw_only=True)
class Contains(Metric):
    """Share of the required texts that occur in the responses of the trace.

    The required texts are those of the case and those in `texts`, which apply to every case.
    Both encodings of `é` are equal. `ignore_case` ignores upper and lower case.
    """

    name: ClassVar[str] = "contains"
    version: ClassVar[int] = 5
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.contains")

    texts: tuple[str, ...] = ()
    ignore_case: bool = False

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        # An empty text is in every response, and would pass all of them.
        required = [text for text in (*(case.contains or ()), *self.texts) if text]
        if not required:
            return Unscored(reason="the case requires no text", not_applicable=True)
        responses = [turn.response for turn in trace.turns if turn.response is not None]
        if not responses:
            return missing_response(trace, trace.turns[-1] if trace.turns else None)
        text = self._normalize("\n".join(responses))
        missing = [part for part in required if self._normalize(part) not in text]
        if missing and any(_is_unrecorded(trace, turn) for turn in trace.turns):
            return NO_RESPONSE  # which may contain them
        reason = f"missing {', '.join(map(format_value, missing))}" if missing else ""
        return Score(value=(len(required) - len(missing)) / len(required), reason=reason)

    def _normalize(self, text: str) -> str:
        text = normalize("NFC", text)
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, kw_only=True)
class Regex(Metric):
    """Share of the responses that match a regular expression.

    A turn that expects a response and has none scores 0.

    `pattern` is searched anywhere in the response, in RE2 syntax: matching takes time linear in the
    text, but lookaround and backreferences are not supported, and `\\b` knows ASCII words
    only.
    """

    name: ClassVar[str] = "regex"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response",)
    imports: ClassVar[tuple[str, ...]] = ("re2",)

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern:
            raise ValueError("the pattern is empty, and would match every response")
        compile_pattern(self.pattern)  # fail before the run, not in each case

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, self._rate, needs_response=True)

    def _rate(self, response: RecordedResponse) -> Score:
        if compile_pattern(self.pattern).search(response.response):
            return Score(value=1.0)
        reason = f"{self.pattern!r} does not match {format_value(response.response)}"
        return Score(value=0.0, reason=reason)


def _is_unrecorded(trace: Trace, turn: Turn) -> bool:
    return turn.response is None and isinstance(missing_response(trace, turn), Unscored)


def _space_out(char: str) -> str:
    """A letter, digit or `_`, or a space for any other character. Marks belong to letters: without
    them, many words of Hindi or Thai are the same."""
    return char if char.isalnum() or char == "_" or category(char).startswith("M") else " "
