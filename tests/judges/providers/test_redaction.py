from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.judges.providers.redaction import Redactor

KEY = "sk-proj-abcdefghijkl-mnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"wrong key {KEY}", "wrong key ***"),
        (f"wrong key: '{KEY}'.", "wrong key: '***'."),
        ("wrong key sk-proj-***uvwxyz", "wrong key ***"),
        (f"https://example.com/?key={KEY}&a=1", "https:***"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_words_with_a_part_of_a_key_are_redacted(text: str, hidden: str):
    assert Redactor(KEY).redact(text) == hidden


def test_key_of_several_parts_is_redacted_part_by_part():
    hidden = Redactor("user-name:long-password").redact("user-name long-password x")
    assert hidden == "*** *** x"


def test_short_part_of_a_key_is_not_redacted():
    assert Redactor("a:long-password").redact("a bad long-password") == "a bad ***"


def test_without_keys_nothing_is_redacted():
    assert Redactor(None, "").redact("as it was") == "as it was"


def test_repr_does_not_show_the_key():
    assert KEY not in repr(Redactor(KEY))


@given(st.text(min_size=8, alphabet=st.characters(min_codepoint=33, max_codepoint=126)), st.text())
def test_key_is_redacted_anywhere_in_a_text(key: str, text: str):
    assert key not in Redactor(key).redact(f"{text} {key} {text}{key}{text}")
