from __future__ import annotations

import msgspec

from carob.schema import Case, ToolCall, Turn
from tests.synth.shop import FERN, ROSE, SOIL, order_case, users, variants, vary, world


def test_woven_cases_keep_the_expectations_of_each_turn():
    variant = vary("woven", FERN, world(FERN, SOIL))
    assert variant is not None
    assert variant.case.turns == (*FERN.turns, *SOIL.turns)
    assert variant.partner == "soil"


def test_what_holds_at_the_end_of_one_case_is_not_expected_of_both():
    (variant, *_) = variants("woven", FERN, world(FERN, SOIL))
    assert (variant.state, variant.contains) == (None, None)


def test_cases_about_the_same_thing_are_not_woven():
    cancel = order_case("cancel", "Please stop order GS-1041.", order_id="GS-1041")
    assert not variants("woven", FERN, world(FERN, cancel))


def test_a_turn_that_refers_to_the_one_before_is_not_torn_away():
    follow_up = Case(id="f", turns=(Turn(user="Do you sell pots?"), Turn(user="How big are they?")))
    assert not variants("woven", SOIL, world(SOIL, follow_up))


def test_a_split_message_expects_its_calls_of_the_whole_case():
    calls = (ToolCall(name="find_order", args={"order_id": "GS-1"}),)
    turn = Turn(user="My order is GS-1. Where is it?", response="On its way.", tool_calls=calls)
    (variant, *_) = variants("split", Case(id="s", turns=(turn,)))
    assert users(variant) == ["My order is GS-1.", "Where is it?"]
    assert variant.tool_calls == calls
    assert [turn.tool_calls for turn in variant.turns] == [None, None]
    assert [turn.response for turn in variant.turns] == [None, "On its way."]


def test_two_questions_are_not_split():
    assert not variants("split", Case.of("Are you open? Do you sell pots?", id="q"))


def test_a_correction_ends_with_the_value_that_is_expected():
    (variant, *_) = variants("late_correction", FERN)
    (user,) = users(variant)
    assert user is not None
    assert user.startswith("Where is my order GS-2077?")
    assert "GS-1041, not GS-2077" in user
    assert msgspec.structs.replace(variant, turns=FERN.turns) == FERN
    assert variant.turns[0].tool_calls == FERN.turns[0].tool_calls


def test_a_value_that_no_other_case_has_cannot_be_corrected():
    assert not variants("late_correction", ROSE, world(ROSE))
