from __future__ import annotations

from typing import Any

import msgspec
import pytest

from carob.datasets.formats.adk import Adk
from carob.datasets.formats.examples import Examples
from carob.errors import FormatError
from carob.schema import Case, ToolCall, Turn

ADK, EXAMPLES = Adk().cases("document"), Examples().cases("document")
LENSES = {lens.key: lens for lens in (ADK, EXAMPLES)}


def test_what_has_no_place_is_named_and_carried():
    case = Case(id="a", turns=(Turn(user="Hi", tool_calls=(ToolCall(name="f"),)),))
    written = EXAMPLES.put(case, LENSES)
    assert "id" in written.lost
    assert "turns[0].tool_calls" in written.lost
    back = EXAMPLES.get(EXAMPLES.put_in(written.doc, written.carry))
    assert msgspec.structs.replace(back, origin=None) == case


def test_an_edit_on_the_way_survives_the_way_back():
    source: Any = {
        "eval_id": "a",
        "extra": 1,
        "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}],
    }
    written = EXAMPLES.put(ADK.get(source), LENSES)
    assert isinstance(written.doc, dict)
    there = EXAMPLES.put_in({**written.doc, "expectedOutput": "Hello"}, written.carry)
    back = ADK.put(EXAMPLES.get(there), LENSES).doc
    assert isinstance(back, dict)
    assert back["extra"] == 1
    assert "Hello" in str(back["conversation"])


def test_what_is_written_has_no_rest():
    case = Case.of("Hi", "Hello", tags=["", "a"])
    for lens in LENSES.values():
        assert lens.rest(lens.put(case, LENSES).doc) is None


def test_damaged_carriage_is_an_error_with_a_hint():
    with pytest.raises(FormatError, match="damaged") as raised:
        ADK.get({"eval_id": "a", "conversation": [], "carob": {"lots": 1}})
    assert raised.value.where == "$.carob"
    assert "delete the key 'carob'" in str(raised.value.hint)
