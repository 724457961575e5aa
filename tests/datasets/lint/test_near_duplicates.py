from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from carob.datasets.lint.near_duplicates import SIMILAR, near_pairs
from carob.datasets.lint.rules import plain_text

WORDS = [
    "brake",
    "saddle",
    "tyre",
    "order",
    "refund",
    "parcel",
    "late",
    "broken",
    "where",
    "please",
]


def similarity(text: str, other: str) -> float:
    first, second = (
        {f" {each} "[at : at + 3] for at in range(len(each))} for each in (text, other)
    )
    return len(first & second) / len(first | second)


def numbers(text: str) -> list[str]:
    return sorted(word for word in text.split() if "1" in word)


def questions(number: int) -> list[str]:
    rng = random.Random(7)  # noqa: S311 - not a secret
    texts: list[str] = []
    for _ in range(number):
        words = rng.choices(WORDS, k=rng.randint(5, 12))
        texts.append(" ".join(words))
        words[rng.randrange(len(words))] += "s"
        texts.append(" ".join(words))
    return [*dict.fromkeys(texts)]


def test_nearly_all_pairs_of_an_exhaustive_comparison_are_found():
    texts = questions(150)
    every = combinations(range(len(texts)), 2)
    expected = {late for early, late in every if similarity(texts[early], texts[late]) >= SIMILAR}
    reported = {pair.later for pair in near_pairs(texts)}
    assert reported <= expected
    assert len(reported) >= 0.97 * len(expected) > 100


@settings(max_examples=100)
@given(st.lists(st.text(alphabet="abc 1", max_size=30), max_size=8))
def test_reported_pair_is_similar_and_has_the_same_numbers(texts: list[str]):
    cleaned = [text for text in map(plain_text, texts) if text]
    for later, earlier, score in near_pairs(cleaned):
        assert earlier < later
        assert similarity(cleaned[earlier], cleaned[later]) == score >= SIMILAR
        assert numbers(cleaned[earlier]) == numbers(cleaned[later])


def test_equal_texts_are_not_near_duplicates():
    assert [*near_pairs(["where is my order", "where is my order"])] == []


def test_inputs_from_one_template_take_linear_time():
    texts = [f"please tell me where the parcel of {a}{b}ek is now" for a in WORDS for b in WORDS]
    assert len([*near_pairs(texts)]) > len(texts) // 2
