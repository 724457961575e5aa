"""Files that Ragas itself wrote are read as it means them.

`samples/ragas/written*` are what `EvaluationDataset.to_jsonl` and `to_csv` of ragas 0.4.3 wrote for
made-up content. They are stored because ragas and its packages take 600 MB.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import open_golden, read_dataset
from carob.schema import Case

SAMPLES = Path(__file__).parents[1] / "samples" / "ragas"


def read(name: str, formats: list[Format]) -> list[Case]:
    assert open_golden(SAMPLES / name, formats).format.name == "ragas"
    return list(read_dataset(SAMPLES / name, formats).cases)


@pytest.mark.parametrize("name", ["written.jsonl", "written.csv"])
def test_single_turns_have_reference_contexts_and_the_recorded_answer(
    name: str, formats: list[Format]
):
    first, second, *_ = read(name, formats)
    assert first.turns[0].user == "When do you open on Saturday?"
    assert first.turns[0].response == "On Saturday we open at 10:00."
    assert first.context == "Saturday from 10:00 to 16:00."
    assert first.recorded
    recorded = first.recorded.turns[0]
    assert recorded.response == "At 10."
    assert recorded.grounding == ("Saturday from 10:00 to 16:00.", "Sunday closed.")
    assert second.turns[0].user == "Was kostet ein Schlauch, „eingebaut“?"
    assert (second.turns[0].response, second.recorded) == ("15 Euro.", None)


def test_sample_without_a_reference_expects_no_answer(formats: list[Format]):
    third = read("written.jsonl", formats)[2]
    assert (third.turns[0].response, third.context) == (None, None)


def test_messages_are_turns_and_the_last_one_expects_the_reference(formats: list[Format]):
    (case,) = read("written_turns.jsonl", formats)
    assert [turn.user for turn in case.turns] == [
        "Where is order 8812?",
        "Thanks, and the invoice?",
    ]
    last = case.turns[-1]
    assert last.response == "The invoice is in your mailbox."
    assert [(call.name, call.args) for call in last.tool_calls or ()] == [
        ("send_invoice", {"order": 8812})
    ]
