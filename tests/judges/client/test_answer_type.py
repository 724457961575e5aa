from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import pytest

from carob.judges.client.answer_type import answer_schema, choice_words, find_mismatch, list_values
from carob.schema import Json


class Part(msgspec.Struct, frozen=True):
    title: str
    verdict: Literal["yes", "no"]


class Report(msgspec.Struct, frozen=True):
    parts: list[Part]
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]
    default: str = "none"


def test_schema_is_closed():
    part = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "verdict": {"type": "string", "enum": ["no", "yes"]},
        },
        "required": ["title", "verdict"],
        "additionalProperties": False,
    }
    assert answer_schema(Report) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "default": {"type": "string"},
        },
        "required": ["parts", "score", "default"],
        "additionalProperties": False,
    }


def test_field_with_a_default_is_required():
    answer: dict[str, Json] = {"parts": [], "score": 3}
    assert find_mismatch(answer, answer_schema(Report)) == "missing field `default` - at `$`"


def test_unknown_field_is_located():
    part: dict[str, Json] = {"title": "a", "verdict": "yes", "grade": 1}
    answer: dict[str, Json] = {"parts": [part], "score": 3, "default": ""}
    assert find_mismatch(answer, answer_schema(Report)) == "unknown field 'grade' - at `$.parts[0]`"


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
