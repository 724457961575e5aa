from __future__ import annotations

import pytest

from carob.text.facts.extract import as_spelled, content_words, contradicts, coverage, extract_facts


def test_quantities_are_not_words_but_topics():
    facts = extract_facts("It takes 5 days.")
    assert [quantity.text for quantity in facts.quantities] == ["5 days"]
    assert facts.words == {"take"}
    assert facts.topics == {"take", "day"}


def test_names_are_capitalised_words_within_a_sentence():
    facts = extract_facts("The capital of France is Paris. Visit the old town. Ada wrote it.")
    assert facts.names == {"franc", "pari"}
    assert facts.openers == {"ada"}


def test_content_words_exclude_stop_words():
    assert content_words("The dogs are running to the station") == {"dog", "run", "station"}


@pytest.mark.parametrize(
    ("clause", "source", "against"),
    [
        ("PayPal is available", "PayPal is not available.", True),
        ("PayPal is unavailable", "PayPal is not available.", False),
        ("PayPal is unavailable", "PayPal is available.", True),
        ("water damage isn't covered", "Glass and water damage are not covered.", False),
        ("the shop is closed", "The shop is not open.", False),
        ("der Laden ist geschlossen", "Der Laden ist geöffnet.", True),
        ("the shop is not open before 9", "The shop is open after 9.", False),
        ("the shop opens at noon", "The museum is not free.", False),
    ],
)
def test_denial_of_the_same_words_is_a_contradiction(clause: str, source: str, against: bool):
    assert contradicts(extract_facts(clause), extract_facts(source)) is against


def test_coverage_leaves_out_facts_of_the_question():
    expected, question = (
        extract_facts("The capital of France is Paris."),
        extract_facts("What is the capital of France?"),
    )
    assert coverage(expected, extract_facts("It is Paris."), question) == 1.0
    assert coverage(expected, extract_facts("It is London."), question) == 0.0


def test_facts_are_shown_in_the_spelling_of_the_text():
    text = "Paris is warmer than London's suburbs."
    assert as_spelled(extract_facts(text).names | extract_facts(text).openers, text) == [
        "London's",
        "Paris",
    ]
    assert as_spelled({"42"}, text) == ["42"]
