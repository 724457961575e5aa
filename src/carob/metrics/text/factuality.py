"""The `factuality` and `completeness` metrics: facts of the expected response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.clauses import split_clauses, yes_or_no
from carob.metrics.text.facts import as_spelled, contradicts, coverage, extract_facts
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored

_FULL_COVERAGE = 0.5  # share of the expected facts that scores 1: a paraphrase rarely has more


@dataclass(frozen=True, kw_only=True)
class Factuality(Metric):
    """Whether the response states the facts of the expected response and contradicts none.

    min(1, share of stated facts / 0.5) · 0.5 ^ contradictions, per turn, then the mean. Facts are
    the content words, numbers and names of the expected response that are not in the question. A
    contradiction is another number or name in place of the expected one, a clause that is denied
    instead of affirmed or the other way round, or a no for a yes. Compares words, not meaning.

    On held-out labelled pairs 28 of 29 good ones passed and 60 of 67 bad ones failed. Weak where
    the error is in plain words: of 15 subtle errors (units, roles, before and after) in the pairs
    used for development it stated 5.
    """

    name: ClassVar[str] = "factuality"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, _rate)


def _rate(response: RecordedResponse) -> Score | Unscored:
    if response.reference is None:
        return Unscored(reason="the case expects no response")
    expected, stated = extract_facts(response.reference), extract_facts(response.response)
    question = extract_facts(response.user)
    share = coverage(expected, stated, question)
    contradictions = _find_contradictions(response, response.reference)
    reasons = [*contradictions]
    if share < _FULL_COVERAGE:
        reasons.append(f"only {share:.0%} of the expected facts are stated")
    value = min(1.0, share / _FULL_COVERAGE) * 0.5 ** len(contradictions)
    return Score(value=value, reason="; ".join(reasons))


def _find_contradictions(response: RecordedResponse, reference: str) -> list[str]:
    """Describe what in the response contradicts the reference."""
    reasons = [*_wrong_numbers(response, reference), *_wrong_names(response, reference)]
    clauses = _contradicting_clauses(response.response, reference)
    reasons += [f"contradicts the reference: {clause!r}" for clause in clauses]
    yes, expected_yes = yes_or_no(response.response), yes_or_no(reference)
    if yes is not None and expected_yes is not None and yes != expected_yes:
        reasons.append(f"expected {'yes' if expected_yes else 'no'}, got {'yes' if yes else 'no'}")
    return reasons


def _contradicting_clauses(response: str, source: str) -> list[str]:
    """Return the clauses that deny what the source affirms, or the other way round."""
    known = extract_facts(source)
    return [
        clause for clause in split_clauses(response) if contradicts(extract_facts(clause), known)
    ]


def _wrong_numbers(response: RecordedResponse, reference: str) -> list[str]:
    stated, expected = extract_facts(response.response), extract_facts(reference)
    question = extract_facts(response.user)
    lost = expected.numbers - stated.numbers
    # A number of the question need not be repeated, but a code such as `B14` must not change.
    lost -= {number for number in question.numbers if number.isdigit()}
    new = stated.numbers - expected.numbers - question.numbers
    return _describe_replaced("number", sorted(new), sorted(lost))


def _wrong_names(response: RecordedResponse, reference: str) -> list[str]:
    stated, expected = extract_facts(response.response), extract_facts(reference)
    question = extract_facts(response.user)
    known = expected.words | question.words
    lost = (expected.words - question.words | expected.names) - stated.words
    new = stated.names - known - extract_facts(response.context).words
    if not new or not lost:
        new, lost = stated.openers - known, expected.openers & lost
    return _describe_replaced(
        "name", as_spelled(new, response.response), as_spelled(lost, reference)
    )


def _describe_replaced(kind: str, new: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Describe facts that replace expected ones. Additional facts alone are not contradictions."""
    if not new or not lost:
        return []
    return [f"{kind}: expected {', '.join(lost)}, got {', '.join(new)}"]


@dataclass(frozen=True, kw_only=True)
class Completeness(Metric):
    """Share of the expected facts that the response states.

    Facts are the content words, numbers and names of the expected response that are not in the
    question; numbers and names count twice. Per turn, then the mean. Compares words, not meaning.

    On held-out labelled pairs 29 of 29 good ones passed and 26 of 27 bad ones failed.
    """

    name: ClassVar[str] = "completeness"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_responses(case, trace, _rate_completeness)


def _rate_completeness(response: RecordedResponse) -> Score | Unscored:
    if response.reference is None:
        return Unscored(reason="the case expects no response")
    expected, stated = extract_facts(response.reference), extract_facts(response.response)
    question = extract_facts(response.user)
    missing = sorted(expected.numbers - stated.numbers - question.numbers)
    missing += as_spelled(expected.names - stated.words - question.words, response.reference)
    share = coverage(expected, stated, question)
    return Score(value=share, reason=f"missing {', '.join(missing)}" if missing else "")
