from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from carob.text.stem import stem

porter = pytest.importorskip("nltk.stem.porter", reason="nltk is the reference here")

LISTED = """
s es ies sses ss ed eed ied ing y ly ational tional enci anci izer bli abli alli entli eli ousli
ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize
iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ion ou ism ate iti
ous ive ize e ll le ably ology fully ally ys ying yed
"""
SUFFIXES = ("", *LISTED.split())


def short_stems() -> Iterator[str]:
    for size in (1, 2, 3):
        yield from map("".join, itertools.product("aeyblstw0", repeat=size))


def long_stems() -> Iterator[str]:
    chance = random.Random(7)  # noqa: S311 - made-up words, no secrets
    for _ in range(400):
        yield "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))


def test_stems_of_random_words_equal_nltk():
    reference = porter.PorterStemmer()
    stems = itertools.chain(short_stems(), long_stems())
    vocabulary = {first + suffix for first in stems for suffix in SUFFIXES}
    wrong = [word for word in vocabulary if stem(word) != reference.stem(word)]
    assert len(vocabulary) > 80_000
    assert wrong == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("skies", "sky"),
        ("dying", "die"),
        ("news", "news"),
        ("innings", "inning"),
        ("proceed", "proceed"),
        ("ties", "tie"),
        ("cried", "cri"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("enjoy", "enjoy"),
        ("geology", "geolog"),
        ("as", "as"),
    ],
)
def test_known_words_have_their_known_stems(word: str, expected: str):
    assert stem(word) == expected
