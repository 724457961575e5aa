from __future__ import annotations

import pytest

from carob.versions.equivalence import (
    escape_unprintable,
    normalize_text,
    normalize_value,
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Yes,  all\nbrands. ", "Yes, all brands."),
        ("Cafe\u0301", "Caf\u00e9"),
        ("It\u2019s open\u00a0now", "It's open now"),
    ],
)
def test_invisible_differences_have_no_meaning(left: str, right: str):
    assert normalize_text(left) == normalize_text(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("10²", "102"), ("legal", "illegal"), ("14 days", "30 days"), ("US", "us"), ("a, b", "a b")],
)
def test_visible_differences_may_have_meaning(left: str, right: str):
    assert normalize_text(left) != normalize_text(right)


def test_texts_inside_values_are_normalized():
    assert normalize_value({"a": ["x  y", 1]}) == {"a": ["x y", 1]}


def test_id_cannot_control_the_terminal():
    assert escape_unprintable("Rückgabe 1") == "Rückgabe 1"
    assert escape_unprintable("\x1b[2J") == "'\\x1b[2J'"
