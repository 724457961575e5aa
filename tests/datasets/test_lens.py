from __future__ import annotations

from typing import Any

import msgspec
import pytest

from carob.datasets.formats.adk import AdkFormat
from carob.datasets.formats.examples import ExamplesFormat
from carob.datasets.formats.questions import QuestionsFormat
from carob.errors import FormatError
from carob.schema import Case, ToolCall, Turn

ADK, EXAMPLES = AdkFormat().cases("document"), ExamplesFormat().cases("document")
QUESTIONS = QuestionsFormat().cases("document")
LENSES = {lens.key: lens for lens in (ADK, EXAMPLES)}


def test_fields_without_an_equivalent_are_listed_and_preserved():
    case = Case(id="a", turns=(Turn(user="Hi", tool_calls=(ToolCall(name="f"),)),))
    output = EXAMPLES.put(case, LENSES)
    assert "id" in output.lost
    assert "turns[0].tool_calls" in output.lost
    back = EXAMPLES.get(EXAMPLES.embed(output.doc, output.round_trip))
    assert msgspec.structs.replace(back, origin=None) == case


def test_edit_in_between_survives_converting_back():
    source: Any = {
        "eval_id": "a",
        "extra": 1,
        "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}],
    }
    output = EXAMPLES.put(ADK.get(source), LENSES)
    assert isinstance(output.doc, dict)
    edited = EXAMPLES.embed({**output.doc, "expectedOutput": "Hello"}, output.round_trip)
    back = ADK.put(EXAMPLES.get(edited), LENSES).doc
    assert isinstance(back, dict)
    assert back["extra"] == 1
    assert "Hello" in str(back["conversation"])


def test_written_document_has_no_rest():
    case = Case.of("Hi", "Hello", tags=["", "a"])
    for lens in LENSES.values():
        assert lens.find_extra(lens.put(case, LENSES).doc) is None


def test_invalid_round_trip_data_is_an_error_with_a_hint():
    with pytest.raises(FormatError, match="invalid round-trip data") as raised:
        ADK.get({"eval_id": "a", "conversation": [], "carob": {"lots": 1}})
    assert raised.value.where == "$.carob"
    assert "delete the key 'carob'" in str(raised.value.hint)


@pytest.mark.parametrize("value", ["x", None, {}, [], {"lost": {"at": {"id": {"=": "other"}}}}])
def test_own_value_at_the_reserved_path_is_preserved(value: Any):
    """It is the user's, and no round-trip data, whatever it looks like."""
    case = Case(id="a", turns=(Turn(user="Hi", response="Hello"),), metadata={"carob": value})
    for lens in (QUESTIONS, EXAMPLES):
        output = lens.put(case, {lens.key: lens})
        back = lens.get(lens.embed(output.doc, output.round_trip))
        assert msgspec.structs.replace(back, origin=None) == case
