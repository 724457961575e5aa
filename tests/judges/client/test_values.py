from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import pytest

from carob.judges.client.answer_type import choice_words, list_values


class Choice(msgspec.Struct, frozen=True):
    reason: str
    verdict: Literal["yes", "no"]
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]
    share: float
    sure: bool
    grade: Annotated[int, msgspec.Meta(gt=0, lt=10, multiple_of=3)] | None
    any: int


class Verdict(msgspec.Struct, frozen=True):
    reason: str
    verdict: Literal["yes", "no"]


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("verdict", ("no", "yes")),
        ("score", ("1", "2", "3", "4", "5")),
        ("sure", ("true", "false")),
        ("grade", ("3", "6", "9", "null")),
        ("share", ()),
        ("any", ()),
        ("reason", ()),
        ("missing", ()),
    ],
)
def test_countable_values_are_listed(field: str, texts: tuple[str, ...]):
    assert {*list_values(Choice, field)} == {*texts}


def test_one_word_suffices_only_if_other_fields_are_text():
    assert choice_words(Verdict, "verdict") == ("no", "yes")
    assert choice_words(Choice, "verdict") == ()
    assert choice_words(Verdict, "reason") == ()
    assert choice_words(Verdict, None) == ()
