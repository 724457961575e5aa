from __future__ import annotations

import pytest

from carob.text.facts.clauses import is_negated, split_clauses, split_sentences, yes_or_no


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It rains. It pours!", ["It rains.", "It pours!"]),
        (
            "It costs 3.50 euros. Version 1.2 is out.",
            ["It costs 3.50 euros.", "Version 1.2 is out."],
        ),
        ("- eggs\n- milk", ["- eggs", "- milk"]),
        ("会议开始。请进。", ["会议开始。", "请进。"]),
        ("  ", []),
        ("Es ist am 1. Mai. Komm!", ["Es ist am 1. Mai.", "Komm!"]),
        ("It costs 5. That is all.", ["It costs 5.", "That is all."]),
    ],
)
def test_sentences_end_where_they_should(text: str, parts: list[str]):
    assert split_sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("No, we are closed on Sunday.", ["we are closed on Sunday."]),
        (
            "It costs 1,000 euros at 10:30, breakfast not included.",
            ["It costs 1,000 euros at 10:30", "breakfast not included."],
        ),
        ("Glass and water are not covered", ["Glass, water are not covered"]),
        ("You can pay without a card", ["You can pay", "without a card"]),
    ],
)
def test_sentences_are_split_into_clauses(text: str, parts: list[str]):
    assert split_clauses(text) == parts


@pytest.mark.parametrize(
    ("clause", "denied"),
    [
        ("PayPal is not available", True),
        ("PayPal isn't available", True),
        ("You cannot pay", True),
        ("nothing works", True),
        ("Das geht nicht", True),
        ("会议不在下午", True),
        ("店は閉まりません", True),
        ("It is notable that the note is in the knot", False),
        ("The nobleman knows", False),
        ("le festival commence le 14 mai", False),
        ("non lo faccio mai", True),
        ("a prova é no dia 7 de junho", False),
    ],
)
def test_negations_are_whole_words(clause: str, denied: bool):
    assert is_negated(clause) is denied


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Yes, sure", True), ("No.", False), ("Nope", False), ("Notably, yes", None), ("", None)],
)
def test_first_word_may_be_a_yes_or_no(text: str, expected: bool | None):
    assert yes_or_no(text) is expected
