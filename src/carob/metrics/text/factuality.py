"""The `factuality` and `completeness` metrics: facts of the expected response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.limits import note_limits
from carob.metrics.text.responses import RecordedResponse, rate_responses
from carob.schema import Case, Score, Trace, Unscored
from carob.text.facts.clauses import split_clauses, yes_or_no
from carob.text.facts.extract import (
    Facts,
    as_spelled,
    contradicts,
    coverage,
    extract_facts,
    states_facts,
)
from carob.text.facts.opposites import find_opposites
from carob.text.facts.quantities import matches, unmatched
from carob.text.language import guess_language

_FULL_COVERAGE = 0.5  # share of the expected facts that scores 1: a paraphrase rarely has more
_NO_FACTS = "the expected response states no facts that could be compared"
_LETTER = re.compile(r"(?<![\w.&/+-])(?<!\w['’])[A-HJ-Z](?![\w&/+#-]|['’.]\w)")
_CAPITALIZED = re.compile(r"(?<!\w)[A-Z]\w*$")
_SEEN = 40  # characters before and after a letter
_ONE_LETTER_WORDS = frozenset("AEKOSUVWYZ")  # at the start of a sentence, in some language


@dataclass(frozen=True, kw_only=True)
class Factuality(Metric):
    """Whether the response states the facts of the expected response and contradicts none.

    min(1, share of stated facts / 0.5) · 0.5 ^ contradictions, per turn, then the mean. Facts are
    the content words, names and quantities of the expected response that are not in the question;
    a quantity counts twice. Quantities are numbers, amounts of money, percentages, measures, dates,
    times of day and codes, compared by value: `1.80 m` is `180 cm`, and `200 mg` is not `200 g`.

    A contradiction is another quantity, name or single letter (`Terminal B`) in place of the
    expected one, the opposite in the same context (before and after, rose and fell, only and
    everyone), a clause that is denied instead of affirmed or the other way round, or a no for a
    yes. An expected response without facts, such as an emoji, decides only if the response is the
    same. Compares words, not meaning: it sees neither swapped roles nor other words that make an
    answer wrong. Units, names of months and number words need the extra `facts`; number words are
    read in English, German, French, Spanish, Italian, Portuguese and Dutch, opposites in these and
    partly in others.

    Measured: accuracy 0.96, κ 0.92 on 80 labelled texts.
    """

    name: ClassVar[str] = "factuality"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return note_limits(rate_responses(case, trace, _rate, needs_reference=True))


class _Compared(NamedTuple):
    """The facts of a response and of what it is compared with."""

    expected: Facts
    stated: Facts
    question: Facts
    context: Facts


def _extract(response: RecordedResponse, reference: str) -> _Compared:
    texts = (reference, response.response, response.user, response.context)
    language = guess_language(*texts)
    return _Compared(*(extract_facts(text, language) for text in texts))


def _rate(response: RecordedResponse) -> Score | Unscored:
    reference = response.reference or ""
    facts = _extract(response, reference)
    share = coverage(facts.expected, facts.stated, facts.question)
    contradictions = _find_contradictions(response, reference, facts)
    if not (states_facts(facts.expected) or contradictions or _same_answer(response, reference)):
        return Unscored(reason=_NO_FACTS)
    reasons = [*contradictions]
    if share < _FULL_COVERAGE:
        reasons.append(f"only {share:.0%} of the expected facts are stated")
    value = min(1.0, share / _FULL_COVERAGE) * 0.5 ** len(contradictions)
    return Score(value=value, reason="; ".join(reasons))


def _find_contradictions(response: RecordedResponse, reference: str, facts: _Compared) -> list[str]:
    """Describe what in the response contradicts the reference."""
    reasons = [*_wrong_quantities(facts), *_wrong_names(response, reference, facts)]
    expected, stated = set(find_letters(reference)), set(find_letters(response.response))
    reasons += _describe_replaced("letter", sorted(stated - expected), sorted(expected - stated))
    reasons += [
        f"opposite: expected {known.word!r}, got {stated.word!r}"
        for stated, known in find_opposites(facts.stated.positions, facts.expected.positions)
    ]
    clauses = _contradicting_clauses(response.response, facts.expected)
    reasons += [f"contradicts the reference: {clause!r}" for clause in clauses]
    yes, expected_yes = yes_or_no(response.response), yes_or_no(reference)
    if yes is not None and expected_yes is not None and yes != expected_yes:
        reasons.append(f"expected {'yes' if expected_yes else 'no'}, got {'yes' if yes else 'no'}")
    return reasons


def _same_answer(response: RecordedResponse, reference: str) -> bool:
    """Tell whether two answers without facts are the same: both a yes or a no, or one letter."""
    answer = response.response
    both = yes_or_no(answer) is not None and yes_or_no(reference) is not None
    letters = {*find_letters(reference)}
    return (
        both
        or (bool(letters) and letters <= {*find_letters(answer)})
        or answer.strip().casefold() == reference.strip().casefold()
    )


def find_letters(text: str) -> Iterator[str]:
    """Return single capital letters that name something, as in `Terminal B` or the answer `C`.

    Words of one letter (`A dog`, `I`), initials (`John F. Kennedy`) and units do not.
    """
    for match in _LETTER.finditer(text):
        # A few characters on both sides, because a long text can have a letter in every place.
        before = text[max(0, match.start() - _SEEN) : match.start()].rstrip(" \"'(*[")
        after = text[match.end() : match.end() + _SEEN]
        is_first = not before or before[-1] in ".!?…\n:;-•"
        is_word = match[0] == "A" or (is_first and match[0] in _ONE_LETTER_WORDS)
        if is_word and re.match(r"\s+\w", after):
            continue
        if re.match(r"\.\s+[A-Z]", after) and (is_first or _CAPITALIZED.search(before)):
            continue
        if not before or not before[-1].isdigit():
            yield match[0]


def _contradicting_clauses(response: str, known: Facts) -> list[str]:
    """Return the clauses that deny what the source affirms, or the other way round."""
    return [
        clause for clause in split_clauses(response) if contradicts(extract_facts(clause), known)
    ]


def _wrong_quantities(facts: _Compared) -> list[str]:
    asked = facts.question.quantities
    # A number of the question need not be repeated, but a code such as `B14` must not change.
    lost = [
        quantity
        for quantity in unmatched(facts.expected.quantities, facts.stated.quantities)
        if quantity.is_a("code") or not any(matches(quantity, other) for other in asked)
    ]
    new = unmatched(facts.stated.quantities, [*facts.expected.quantities, *asked])
    kinds = {reading.kind for quantity in lost for reading in quantity.readings}
    kind = kinds.pop() if len(kinds) == 1 else "number"
    return _describe_replaced(
        kind, [quantity.text for quantity in new], [quantity.text for quantity in lost]
    )


def _wrong_names(response: RecordedResponse, reference: str, facts: _Compared) -> list[str]:
    expected, stated = facts.expected, facts.stated
    known = expected.topics | facts.question.topics
    lost = (expected.words - facts.question.topics | expected.names) - stated.topics
    new = stated.names - known - facts.context.topics
    codes = [
        quantity.text
        for quantity in unmatched(expected.quantities, stated.quantities)
        if quantity.is_a("code")
    ]
    if not new or not (lost or codes):
        new, lost = stated.openers - known, expected.openers & lost
    return _describe_replaced(
        "name", as_spelled(new, response.response), [*as_spelled(lost, reference), *codes]
    )


def _describe_replaced(kind: str, new: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Describe facts that replace expected ones. Additional facts alone are not contradictions."""
    if not new or not lost:
        return []
    return [f"{kind}: expected {', '.join(lost)}, got {', '.join(new)}"]


@dataclass(frozen=True, kw_only=True)
class Completeness(Metric):
    """Share of the expected facts that the response states.

    Facts are those of `factuality`: the content words, names and quantities of the expected
    response that are not in the question; names and quantities count twice. Per turn, then the
    mean. Compares words, not meaning: a synonym is a missing word.

    Measured: accuracy 0.96, κ 0.91 on 57 labelled texts.
    """

    name: ClassVar[str] = "completeness"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.5
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return note_limits(rate_responses(case, trace, _rate_completeness, needs_reference=True))


def _rate_completeness(response: RecordedResponse) -> Score | Unscored:
    reference = response.reference or ""
    facts = _extract(response, reference)
    if not states_facts(facts.expected):
        return Unscored(reason=_NO_FACTS, not_applicable=True)
    stated, question = facts.stated, facts.question
    known = [*stated.quantities, *question.quantities]
    missing = [quantity.text for quantity in unmatched(facts.expected.quantities, known)]
    lost = facts.expected.names - stated.topics - question.topics
    missing += as_spelled(lost, reference)
    share = coverage(facts.expected, stated, question)
    return Score(value=share, reason=f"missing {', '.join(missing)}" if missing else "")
