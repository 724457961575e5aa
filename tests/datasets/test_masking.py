from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from karat.datasets.masking import masked
from karat.errors import UsageError
from karat.schema import Case, ToolCall, Turn


class Finding(NamedTuple):
    kind: str
    text: str


def emails(text: str) -> Iterator[Finding]:
    return (Finding("email address", found) for found in re.findall(r"\w+@\w+\.\w+", text))


def case(user: str, **args: str) -> Case:
    turn = Turn(user=user, tool_calls=(ToolCall(name="mail", args=dict(args)),))
    return Case(id="c", turns=(turn,), metadata={"reviewed_by": "ann@shop.example"})


def test_the_same_text_gets_the_same_word_in_message_and_argument():
    (turn,) = masked(case("I am jo@mail.example", to="jo@mail.example"), emails).turns
    assert turn.user == "I am [email address 1]"
    assert turn.tool_calls == (ToolCall(name="mail", args={"to": "[email address 1]"}),)


def test_two_texts_get_two_words():
    (turn,) = masked(case("From a@b.example to c@d.example"), emails).turns
    assert turn.user == "From [email address 1] to [email address 2]"


def test_what_is_found_late_in_a_long_text_is_masked_too():
    (turn,) = masked(case("x " * 20_000 + "jo@mail.example"), emails).turns
    assert "jo@mail" not in (turn.user or "")


def test_lineage_stays():
    assert masked(case("jo@mail.example"), emails).metadata == {"reviewed_by": "ann@shop.example"}


def test_a_case_with_nothing_to_mask_is_the_same():
    clean = case("Hello")
    assert masked(clean, emails) is clean


def test_a_missing_package_is_named():
    def find(text: str) -> Iterator[Finding]:
        raise ImportError("no", name="phonenumbers")

    with pytest.raises(UsageError, match="masking needs the package 'phonenumbers'") as caught:
        masked(case("Hello"), find)
    assert caught.value.hint == 'pip install "karat[pii]"'
