from __future__ import annotations

from typing import Any, ClassVar, Literal

import pytest

from carob.datasets.document_types import (
    ClosedDocument,
    OpenDocument,
    find_member,
    normalize_keys,
    parse_document,
)
from carob.errors import FormatError


class Inner(ClosedDocument):
    first_name: str
    size: int = 0


class Outer(OpenDocument):
    aliases: ClassVar[dict[str, str]] = {"persons": "people"}

    people: list[Inner]
    level: Literal["low", "high"] | None = None
    on: bool = False


@pytest.mark.parametrize("key", ["people", "persons"])
def test_aliases_and_other_spellings_are_accepted(key: str):
    doc: Any = {key: [{"firstName": "Ada", "size": "3"}], "more": 1, "on": "yes", "level": None}
    parsed = parse_document(doc, Outer)
    assert (parsed.people[0].first_name, parsed.people[0].size, parsed.on) == ("Ada", 3, True)


def test_null_stands_for_the_default():
    assert parse_document({"people": [], "on": None}, Outer).on is False


def test_mismatch_is_located_by_its_path():
    with pytest.raises(FormatError) as raised:
        parse_document({"people": [{"first_name": 3}]}, Outer)
    assert raised.value.where == "$.people[0].first_name"


def test_member_finds_either_spelling():
    assert find_member({"userContent": 1}, "user_content") == ("userContent", 1)
    assert find_member([], "user_content") == ("user_content", None)


def test_known_keys_get_their_usual_spelling_and_others_keep_theirs():
    assert normalize_keys({"caseId": 1, "ownKey": 2}, ("case_id",)) == {"case_id": 1, "ownKey": 2}


def test_usual_spelling_wins_wherever_it_stands():
    assert normalize_keys({"caseId": 1, "case_id": 2}, ("case_id",)) == {"case_id": 2}
    assert normalize_keys({"case_id": 2, "caseId": 1}, ("case_id",)) == {"case_id": 2}
