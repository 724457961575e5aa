from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from carob.judges.client.answer_type import answer_schema, find_mismatch
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
