from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.text import tokens as module
from carob.text.tokens import split_words, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't panic, 42!", ["don", "t", "panic", "42"]),
        ("東京へ行く", ["東", "京", "へ", "行", "く"]),
        ("กินขัน", ["กิ", "น", "ขั", "น"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ﬁne ½", ["fine", "1", "2"]),
    ],
)
def test_scripts_are_split_as_adk_splits_them(text: str, expected: list[str]):
    assert split_words(text) == expected


def test_short_and_foreign_words_keep_their_endings():
    assert tokenize("runs has größere flying") == ["run", "has", "größere", "fli"]


@given(st.text(max_size=60))
def test_ascii_text_is_split_as_any_other_text(text: str):
    plain = text.encode("ascii", "ignore").decode()
    assert tokenize(plain) == tokenize(f"{plain} é")[:-1]


def test_cache_of_stems_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MAX_CACHED", 10)
    tokenize(" ".join(f"word{number}" for number in range(100)) + " " + "x" * 1000)
    assert len(module._STEMS) <= 10  # pyright: ignore[reportPrivateUsage] - the bound is the point
