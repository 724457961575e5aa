"""`carob.as_metric`: scores with feedback for optimisers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import carob
from carob.errors import UsageError
from carob.schema import Case

GOLD = {"question": "Price of the hose?", "answer": "The hose costs 19 euros."}


def test_score_is_a_number_an_object_and_a_mapping():
    metric = carob.as_metric("exact_match")
    good = metric(GOLD, {"answer": "The hose costs 19 euros."})
    assert (good, good.score, good["score"]) == (1.0, 1.0, 1.0)
    assert (good.feedback, good["feedback"]) == ("perfect", "perfect")
    with pytest.raises(KeyError):
        good["other"]


def test_feedback_has_the_reasons_of_what_is_not_perfect():
    metric = carob.as_metric(["exact_match", "factuality"])
    gold, prediction = SimpleNamespace(**GOLD), SimpleNamespace(answer="The hose costs 90 euros.")
    result = metric(gold, prediction, None, "answerer", [])
    assert 0 <= result < 1
    assert "factuality: " in result.feedback
    assert "19" in result.feedback


def test_lower_is_better_is_turned_around():
    case = Case.of("Price of the hose?", "19 euros", context="The hose costs 19 euros.")
    grounded = carob.as_metric("hallucination")(case, "The hose costs 19 euros.")
    invented = carob.as_metric("hallucination")(case, "The rake costs 77 dollars in Rome.")
    assert grounded >= invented


def test_pair_that_cannot_be_scored_is_not_a_zero():
    with pytest.raises(UsageError, match="no metric could score the pair: exact_match"):
        carob.as_metric("exact_match")({"question": "Price?"}, "19 euros")
    with pytest.raises(UsageError, match="the example has no text 'question'"):
        carob.as_metric("exact_match")({"prompt": "Price?"}, "19 euros")
    with pytest.raises(UsageError, match="the prediction has no field 'answer'"):
        carob.as_metric("exact_match")(GOLD, {"text": "19 euros"})
