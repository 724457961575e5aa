"""Tests of DeepEval's goldens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.datasets.formats import Format
from carob.datasets.formats.deepeval import DeepEvalFormat
from carob.datasets.read import open_golden, read_dataset
from carob.schema import Json, Scenario, ToolCall

FORM = DeepEvalFormat()


@pytest.mark.parametrize(
    "row",
    [
        {"input": "Open on Sunday?", "expected_output": "No", "retrieval_context": ["Mon-Sat"]},
        {"input": "Open on Sunday?", "expected_output": "No", "context": ["Mon-Sat"]},
        {"id": "7", "input": "Open on Sunday?", "tools_called": [{"name": "opening_hours"}]},
    ],
)
def test_fields_of_deepeval_are_its_signs(row: dict[str, Json]):
    assert FORM.claims_row(row)


@pytest.mark.parametrize(
    "row",
    [
        {"input": "Open on Sunday?", "expected": "No", "expected_tools": ["opening_hours"]},
        {"input": "Open on Sunday?", "expected": "No", "context": ["Mon-Sat"]},
        {"id": "hours-1", "input": "Open on Sunday?", "expected_tools": ["opening_hours"]},
    ],
)
def test_plain_rows_with_a_context_or_tools_are_not_deepevals(row: dict[str, Json]):
    assert not FORM.claims_row(row)


def test_expected_answer_of_a_plain_table_with_tools_is_read(formats: list[Format], tmp_path: Path):
    path = tmp_path / "shop.csv"
    path.write_text("id,input,expected,expected_tools,tags\nhours-1,Open on Sunday?,No,,hours\n")
    (case,) = read_dataset(path, formats).cases
    assert (case.id, case.turns[0].response, case.tags) == ("hours-1", "No", ("hours",))


def test_tools_of_a_plain_row_keep_its_id(formats: list[Format], tmp_path: Path):
    path = tmp_path / "shop.jsonl"
    path.write_text('{"id": "hours-1", "input": "Open?", "expected_tools": ["opening_hours"]}\n')
    (case,) = read_dataset(path, formats).cases
    assert case.id == "hours-1"
    assert case.turns[0].tool_calls == (ToolCall(name="opening_hours"),)


def test_turns_of_a_conversation_may_be_json_in_a_text():
    turns = json.dumps([{"role": "user", "content": "My bike was stolen."}])
    doc: Json = {"scenario": "Report a theft", "expected_outcome": "A claim", "turns": turns}
    case = FORM.cases("list").read(doc)
    assert case.scenario == Scenario(prompt="My bike was stolen.", plan="Report a theft")


def test_numbered_id_of_a_repeated_conversation_is_not_written_as_its_name(
    formats: list[Format], tmp_path: Path
):
    golden = {"scenario": "Report a theft", "expected_outcome": "A claim is opened"}
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps([golden, golden]))
    assert open_golden(path, formats).format.name == "deepeval"
    repeated = read_dataset(path, formats).cases[1]
    assert repeated.id.endswith("-2")
    written = FORM.write_case(repeated)
    assert isinstance(written, dict)
    assert "name" not in written
