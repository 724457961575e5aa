from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.metrics import build
from carob.metrics.text.matching import Contains, ExactMatch, Regex
from carob.schema import Case, Score, Trace, Turn, Unscored


def trace(*responses: str | None) -> Trace:
    return Trace(id="t", turns=tuple(Turn(response=text) for text in responses))


@pytest.mark.parametrize(
    ("metric", "response", "value"),
    [
        (ExactMatch(), "Yes, sir.", 1.0),
        (ExactMatch(), " Yes, sir.\n", 1.0),
        (ExactMatch(), "yes, sir.", 0.0),
        (ExactMatch(ignore_case=True), "YES, SIR.", 1.0),
        (ExactMatch(ignore_punctuation=True), "Yes sir!", 1.0),
        (ExactMatch(ignore_punctuation=True), "Yes ma'am", 0.0),
    ],
)
def test_exact_match(metric: ExactMatch, response: str, value: float):
    score = metric.score(Case.of("Ready?", "Yes, sir."), trace(response))
    assert isinstance(score, Score)
    assert score.value == value


@pytest.mark.parametrize(
    ("expected", "response", "value"),
    [("कि", "की", 0.0), ("ที่", "ที", 0.0), ("Café!", "Cafe\u0301", 1.0), ("a_b", "a b", 0.0)],
)
def test_marks_belong_to_words(expected: str, response: str, value: float):
    metric = ExactMatch(ignore_punctuation=True)
    score = metric.score(Case.of("Which word?", expected), trace(response))
    assert isinstance(score, Score)
    assert score.value == value


@pytest.mark.parametrize("response", ["👎", "", "?"])
def test_texts_without_words_are_compared_as_they_are(response: str):
    metric = ExactMatch(ignore_punctuation=True)
    outcomes = [metric.score(Case.of("Good?", "👍"), trace(text)) for text in (response, " 👍")]
    assert [outcome.value for outcome in outcomes if isinstance(outcome, Score)] == [0.0, 1.0]


def test_both_encodings_of_a_letter_with_a_mark_are_equal():
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    score = ExactMatch().score(Case.of("Where?", composed), trace(decomposed))
    assert isinstance(score, Score)
    assert score.value == 1.0
    assert Contains().score(Case(id="c", contains=(composed,)), trace(f"At the {decomposed}.")) == (
        Score(value=1.0)
    )


def test_exact_match_shows_both_texts():
    score = ExactMatch().score(Case.of("Ready?", "Yes"), trace("No"))
    assert score == Score(value=0.0, turns=(0.0,), reason="expected 'Yes', got 'No'")


def test_share_of_texts_contained_in_any_response():
    case = Case(id="c", contains=("Order 7", "thanks"))
    score = Contains().score(case, trace("Order 7 is on its way.", None, "Thanks!"))
    assert score == Score(value=0.5, reason="missing 'thanks'")
    assert Contains(ignore_case=True).score(case, trace("order 7", "THANKS")) == Score(value=1.0)
    extra = Contains(texts=("now",)).score(Case(id="c"), trace("not now"))
    assert extra == Score(value=1.0)


def test_nothing_to_contain_is_unscored():
    assert isinstance(Contains().score(Case(id="c"), trace("a")), Unscored)
    silent = Trace(id="t", turns=(Turn(),))
    outcome = Contains().score(Case(id="c", contains=("a",)), silent)
    assert outcome == Unscored(reason="the response was not recorded")


def test_empty_text_is_not_contained_in_everything():
    outcome = Contains(texts=("",)).score(Case(id="c", contains=("",)), trace("a"))
    assert outcome == Unscored(reason="the case requires no text", not_applicable=True)
    assert Contains().score(Case(id="c", contains=("", "b")), trace("a")) == (
        Score(value=0.0, reason="missing 'b'")
    )


def test_text_that_an_unrecorded_response_may_contain_is_not_missing():
    turns = (Turn(user="Hi"), Turn(user="Where?", response="On its way."))
    table = Trace(id="t", turns=turns, convention="simulation")  # which has the last response only
    assert Contains().score(Case(id="c", contains=("Hello",)), table) == Unscored(
        reason="the response was not recorded"
    )
    assert Contains().score(Case(id="c", contains=("way",)), table) == Score(value=1.0)


def test_regex_of_a_turn_without_the_expected_response_is_zero():
    silent = Trace(id="t", turns=(Turn(user="hi"), Turn(user="hi", response="a")))
    case = Case(id="c", turns=(Turn(response="a"), Turn(response="a")))
    score = Regex(pattern="a").score(case, silent)
    assert score == Score(value=0.5, turns=(0.0, 1.0), reason="turn 1: no response")


def test_pattern_is_searched_in_every_response():
    score = Regex(pattern=r"order #\d+").score(Case(id="c"), trace("Your order #12", "Bye"))
    assert score == Score(
        value=0.5, turns=(1.0, 0.0), reason=r"turn 2: 'order #\\d+' does not match 'Bye'"
    )


def test_invalid_and_missing_patterns_are_rejected_before_the_run():
    with pytest.raises(UsageError, match="invalid regular expression"):
        build("regex", {"pattern": "("}, {"regex": Regex})
    with pytest.raises(UsageError, match=r"^metric 'regex': the pattern is empty, and "):
        build("regex", {"pattern": ""}, {"regex": Regex})
    with pytest.raises(UsageError, match="needs the parameter 'pattern'"):
        build("regex", {}, {"regex": Regex})
