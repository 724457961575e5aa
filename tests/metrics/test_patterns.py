from __future__ import annotations

import random
import re
import time

import pytest

from carob.metrics.patterns import Pattern

ATOMS = (
    *("a", "b", "A", ".", "[ab]", "[^a]", r"\w", r"\s", r"\d", "(?i:a)", ""),
    *(r"\b", r"\B", r"\Z", "^", "$", "(?=a)", "(?!b)"),
)
OFTEN = ("*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{0,3}")


def made_up(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(ATOMS)
    first, second = made_up(chance, depth - 1), made_up(chance, depth - 1)
    if kind < 0.55:
        return first + second
    if kind < 0.75:
        return f"(?:{first}|{second})"
    return f"(?:{first}){chance.choice(OFTEN)}"


def test_a_text_matches_if_it_does_for_re(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carob.metrics.patterns._FEW", 0)
    chance = random.Random(1)  # noqa: S311 - made-up patterns, no secrets
    for _ in range(1500):
        written = chance.choice(["", "(?i)", "(?s)", "(?m)", "(?a)"]) + made_up(chance, 4)
        found, theirs = Pattern(written), re.compile(written)
        for _ in range(5):
            text = "".join(chance.choices("abA \n1é_", k=chance.randint(0, 7)))
            assert found.search(text) is bool(theirs.search(text)), (written, text)
            assert found.fullmatch(text) is bool(theirs.fullmatch(text)), (written, text)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("(a+)+b", "a" * 30_000),
        ("(a|a)*b", "a" * 30_000),
        ("(a|aa)+$", "a" * 30_000 + "b"),
        ("(.*)(.*)(.*)(.*)x", "a" * 5_000),
        (r"\s+$", " " * 30_000 + "x"),
        ("a?" * 30 + "a" * 30 + "b", "a" * 60),
        (r"^(\d{1,3})+$", "1" * 5_000 + "x"),
        ("(?:(?:a|b|ab|ba){0,9}c?){0,9}d", "ab" * 2_000),
    ],
)
def test_no_pattern_takes_long(written: str, text: str):
    started = time.process_time()
    assert not Pattern(written).search(text)
    assert not Pattern(written).fullmatch(text)
    assert time.process_time() - started < 5


def test_looking_ahead_too_often_is_an_error_and_not_a_long_wait():
    with pytest.raises(ValueError, match="looks ahead too often"):
        Pattern("(?=.*a)(?=.*b)c").search("x" * 50_000)
    assert Pattern("^(?=.*refund)(?=.*sorry)").search("sorry, your refund is on its way")


@pytest.mark.parametrize("written", [r"(a+)(b+)\1", "(a+)(?<=a)b+", "(?>a+)b+", "(?=(?=a*)b*)c*"])
def test_pattern_that_must_go_back_is_refused(written: str):
    with pytest.raises(ValueError, match="may take forever"):
        Pattern(written)


@pytest.mark.parametrize(
    ("written", "text"), [(r"(\w)\1", "book"), ("(?<=€ )[0-9]+", "€ 20"), ("(?>ab)c", "abc")]
)
def test_pattern_with_hardly_any_choice_may_go_back(written: str, text: str):
    assert Pattern(written).search(text)


@pytest.mark.parametrize("written", ["(", "a{2,1}", "(?P<n>a)(?P<n>b)", "(" * 3000 + ")" * 3000])
def test_text_that_is_no_pattern_is_refused(written: str):
    with pytest.raises(ValueError, match="is no regular expression"):
        Pattern(written)


def test_endless_repetitions_are_refused():
    with pytest.raises(ValueError, match="add up to too much"):
        Pattern("((a{100}){100}){100}b+c*")
