from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.judges.client.parse import InvalidAnswer, ValidAnswer, parse_reply


class Grade(msgspec.Struct, frozen=True):
    reason: str
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "Good.", "score": 0.5}',
        '  {"reason": "Good.", "score": 0.5}\n',
        '```json\n{"reason": "Good.", "score": 0.5}\n```',
        'Here it is: {"reason": "Good.", "score": 0.5} - done.',
    ],
)
def test_text_and_fences_around_an_answer_are_ignored(text: str):
    assert parse_reply(text, Grade) == ValidAnswer(Grade(reason="Good.", score=0.5))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.5",
        "[0.5]",
        '{"reason": "Good.", "score": NaN}',
        '{"reason": "Good.", "score": Infinity}',
        '{"reason": "Good.", "score": 1.01}',
        '{"reason": "Good.", "score": null}',
        '{"reason": "Good.", "score": true}',
        '{"reason": "Good.", "score": 0.5',
        '{"a": ' * 100_000,
        '{"reason": "' + "x" * 300_000 + '", "score": 0.5}',
        '{"reason": "\\ud800", "score": 0.5} {',
    ],
)
def test_text_without_an_answer_is_none(text: str):
    assert isinstance(parse_reply(text, Grade), InvalidAnswer)


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_parsed_without_an_exception(text: str):
    assert isinstance(parse_reply(text, Grade), InvalidAnswer | ValidAnswer)
