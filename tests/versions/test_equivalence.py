from __future__ import annotations

import pytest

from carob.versions.equivalence import json_equal, normalize_text, normalize_value, printable


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Yes,  all\nbrands. ", "Yes, all brands."),
        ("Cafe\u0301", "Caf\u00e9"),
        ("It\u2019s open\u00a0now", "It's open now"),
    ],
)
def test_what_no_reader_can_see_has_no_meaning(one: str, other: str):
    assert normalize_text(one) == normalize_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("10²", "102"), ("legal", "illegal"), ("14 days", "30 days"), ("US", "us"), ("a, b", "a b")],
)
def test_what_a_reader_can_see_may_have_meaning(one: str, other: str):
    assert normalize_text(one) != normalize_text(other)


def test_texts_inside_values_are_normalised():
    assert normalize_value({"a": ["x  y", 1]}) == {"a": ["x y", 1]}


def test_a_number_is_the_same_in_both_spellings_but_no_truth_value():
    assert json_equal({"n": [1]}, {"n": [1.0]})
    assert not json_equal({"n": 1}, {"n": True})
    assert not json_equal([False], [0])


def test_an_id_cannot_command_the_terminal():
    assert printable("Rückgabe 1") == "Rückgabe 1"
    assert printable("\x1b[2J") == "'\\x1b[2J'"
