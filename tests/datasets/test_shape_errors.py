from __future__ import annotations

from typing import Any, ClassVar, Literal

from carob.datasets.document_types import Base64, ClosedDocument, OpenDocument
from carob.datasets.shape_errors import find_shape_errors


class Inner(ClosedDocument):
    first_name: str
    size: int = 0
    data: Base64 = ""


class Outer(OpenDocument):
    aliases: ClassVar[dict[str, str]] = {"persons": "people"}

    people: list[Inner]
    level: Literal["low", "high"] | None = None
    pair: tuple[str, float] | None = None


def shape_errors(doc: Any) -> list[tuple[str, str, str | None]]:
    return [(p.where, p.message, p.severity) for p in find_shape_errors(doc, Outer)]


def test_number_in_quotes_is_a_warning_and_a_word_an_error():
    doc: Any = {"people": [{"first_name": "a", "size": "3"}, {"first_name": "b", "size": "x"}]}
    assert shape_errors(doc) == [
        ("$.people[0].size", "expected a whole number, got the string '3'", "warning"),
        ("$.people[1].size", "expected a whole number, got the string 'x'", "error"),
    ]


def test_choices_pairs_and_encodings_are_checked():
    doc: Any = {"people": [{"first_name": "a", "data": "?"}], "level": "hgh", "pair": ["a"]}
    assert shape_errors(doc) == [
        ("$.people[0].data", "expected base64, got the string '?'", "error"),
        ("$.level", "expected one of 'high', 'low', got 'hgh'", "error"),
        ("$.pair", "expected a list of 2 values, got a list", "error"),
    ]


def test_two_spellings_are_an_error_only_where_keys_are_closed():
    doc: Any = {"people": [{"first_name": "a", "firstName": "b"}], "persons": []}
    assert [(where, severity) for where, _, severity in shape_errors(doc)] == [
        ("$.people[0].firstName", "error"),
        ("$.persons", "warning"),
    ]
