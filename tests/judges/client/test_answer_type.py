from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from carob.judges.client.answer_type import answer_schema, find_mismatch
from carob.schema import Json


class Part(msgspec.Struct, frozen=True):
    title: str
    verdict: Literal["yes", "no"]


class Whole(msgspec.Struct, frozen=True):
    parts: list[Part]
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]
    default: str = "none"


def test_a_schema_leaves_nothing_open():
    part = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "verdict": {"type": "string", "enum": ["no", "yes"]},
        },
        "required": ["title", "verdict"],
        "additionalProperties": False,
    }
    assert answer_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "default": {"type": "string"},
        },
        "required": ["parts", "score", "default"],
        "additionalProperties": False,
    }


def test_what_has_a_default_must_be_answered_all_the_same():
    said: dict[str, Json] = {"parts": [], "score": 3}
    assert find_mismatch(said, answer_schema(Whole)) == "missing field `default` - at `$`"


def test_a_field_too_many_is_named_with_its_place():
    part: dict[str, Json] = {"title": "a", "verdict": "yes", "grade": 1}
    said: dict[str, Json] = {"parts": [part], "score": 3, "default": ""}
    assert find_mismatch(said, answer_schema(Whole)) == "unknown field 'grade' - at `$.parts[0]`"
