from __future__ import annotations

from carob.schema import Case
from carob.synth.context import stands_alone
from tests.synth.shop import SOIL, users, variants

DELIVERY = Case.of(
    "Do you deliver to islands?",
    "Yes, twice a week.",
    id="islands",
    context="Islands get deliveries twice a week.\n\nPickup is free for members.",
)


def test_a_distractor_comes_first_and_shares_no_word_with_the_case():
    for variant in variants("distractor", SOIL):
        (user,) = users(variant)
        assert (user or "").endswith(SOIL.turns[0].user or "?")
        assert user != SOIL.turns[0].user


def test_a_related_distractor_is_not_used():
    case = Case.of("Does coffee help my roses in rainy weather?", id="coffee")
    said = " ".join(str(users(variant)) for variant in variants("distractor", case))
    assert "drinking my coffee" not in said
    assert "weather is lovely" not in said


def test_independent_paragraphs_change_places():
    assert {variant.context for variant in variants("moved_facts", DELIVERY)} == {
        "Pickup is free for members.\n\nIslands get deliveries twice a week."
    }


def test_paragraphs_that_refer_to_others_stay():
    case = Case.of("Do you deliver?", "Yes.", id="d", context="We deliver.\n\nThis costs 5 euros.")
    assert not variants("moved_facts", case)


def test_a_question_that_refers_to_what_was_said_before_is_not_moved():
    assert not variants("moved_facts", Case.of("My pot broke. Can you mend it?", id="pot"))
    moved = variants("moved_facts", Case.of("My order is GS-7. When do you deliver?", id="o"))
    assert users(moved[0]) == ["When do you deliver? My order is GS-7."]


def test_a_long_context_contains_the_whole_context():
    for variant in variants("long_context", DELIVERY):
        assert (DELIVERY.context or "?") in (variant.context or "")
        assert len(variant.context or "") > 3 * len(DELIVERY.context or "")


def test_a_case_without_context_gets_none():
    assert not variants("long_context", SOIL)


def test_pronouns_do_not_stand_alone():
    assert not stands_alone("How much is it?")
    assert stands_alone("How much is the red pot?")
