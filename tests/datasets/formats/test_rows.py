"""Tests for plain rows under common names, and under names of a mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.datasets.formats import Format
from carob.datasets.formats.rows import RowsFormat, map_rows, mapped_rows
from carob.datasets.read import open_golden, read_dataset
from carob.datasets.validate import validate
from carob.errors import UsageError
from carob.metrics.text.assertions import Assertions
from carob.schema import Case, Json, Score, ToolCall, Trace, Turn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "golden.json"


def read(file: Path, formats: list[Format], row: dict[str, Any], name: str | None = None) -> Case:
    file.write_text(json.dumps([row]))
    (case,) = read_dataset(file, formats, name).cases
    return case


def test_answer_is_expected_when_it_is_alone(file: Path, formats: list[Format]):
    case = read(file, formats, {"question": "When do you open?", "answer": "At 9"})
    assert case.turns[0].response == "At 9"
    assert case.recorded is None


def test_answer_beside_the_ground_truth_is_what_the_agent_said(file: Path, formats: list[Format]):
    row = {"question": "When do you open?", "answer": "At 8", "ground_truth": "At 9"}
    case = read(file, formats, row)
    assert case.turns[0].response == "At 9"
    assert case.recorded
    assert case.recorded.turns[0].response == "At 8"


def test_object_of_checks_is_not_an_answer(file: Path, formats: list[Format]):
    row = {"question": "When do you open?", "expected": {"status": "done", "max_words": 20}}
    case = read(file, formats, row)
    assert case.turns[0].response is None
    assert case.reference == {"expected": {"status": "done", "max_words": 20}}
    (problem,) = validate(file, formats).problems
    assert problem.message == "an object, kept as reference and not compared"


def test_object_with_an_answer_has_an_answer(file: Path, formats: list[Format]):
    case = read(file, formats, {"question": "Hi", "expected": {"answer": "Hello", "tone": "warm"}})
    assert case.turns[0].response == "Hello"


def test_contexts_without_a_recorded_answer_are_context(file: Path, formats: list[Format]):
    case = read(file, formats, {"question": "Price?", "answer": "25", "contexts": ["25 euros"]})
    assert (case.context, case.recorded) == ("25 euros", None)


def test_no_tool_expects_that_no_tool_is_called(file: Path, formats: list[Format]):
    values: tuple[Any, ...] = ("none", "None", "-", [])
    for value in values:
        case = read(file, formats, {"query": "Hello!", "expected_tool": value})
        assert case.turns[0].tool_calls == ()
    case = read(file, formats, {"query": "Hello!", "expected_tool": "greet"})
    assert case.turns[0].tool_calls == (ToolCall(name="greet"),)


def test_names_are_found_in_any_case_and_spacing(file: Path, formats: list[Format]):
    row = {"Question ID": "q1", "User Query": "When do you open?", "Expected Answer": "At 9"}
    case = read(file, formats, row)
    assert (case.id, case.turns[0].user, case.turns[0].response) == (
        "q1",
        "When do you open?",
        "At 9",
    )


def test_turns_are_a_conversation(file: Path, formats: list[Format]):
    rows = [
        {"id": "a", "question": "Hi"},
        {"id": "b", "turns": [{"question": "Price?", "expected": "15"}, {"question": "And two?"}]},
    ]
    file.write_text(json.dumps(rows))
    case = read_dataset(file, formats).cases[1]
    assert [(turn.user, turn.response) for turn in case.turns] == [
        ("Price?", "15"),
        ("And two?", None),
    ]


def test_columns_are_not_a_conversation(file: Path, formats: list[Format]):
    file.write_text(json.dumps({"question": ["Hi", "Price?"], "answer": ["Hello", "15"]}))
    problem = validate(file, formats).problems[0]
    assert problem.message == "a list of messages, expected one"
    assert problem.hint == "write a row for each question, not a list for each column"


def test_mapping_names_the_fields(file: Path, formats: list[Format]):
    row = {"frage": "Wann?", "antwort": "Um 9", "thema": "Zeiten"}
    case = read(file, formats, row, "rows:input=frage,expected=antwort")
    assert (case.turns[0].user, case.turns[0].response) == ("Wann?", "Um 9")
    assert case.metadata == {"thema": "Zeiten"}


def test_mapping_of_a_project_leaves_other_formats_alone(file: Path, formats: list[Format]):
    mapped = list(map_rows(formats, {"input": "input", "expected": "soll"}))
    case = read(file, mapped, {"input": "Hi", "target": "Hello", "soll": "Hallo"})
    assert case.origin
    assert case.origin.format == "inspect"
    assert case.turns[0].response == "Hello"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("inptu=frage", "expected FIELD=NAME in a mapping, got 'inptu=frage'"),
        ("input=", "expected FIELD=NAME in a mapping, got 'input'"),
        ("", "empty mapping"),
    ],
)
def test_invalid_mappings_are_refused(spec: str, message: str):
    with pytest.raises(UsageError, match=message):
        mapped_rows(spec)


@pytest.mark.parametrize("key", ["test_cases", "cases", "evals"])
def test_skill_evals_list_their_cases_under_several_keys(
    key: str, file: Path, formats: list[Format]
):
    row = {"prompt": "Split the work", "expected_behavior": ["Starts four workers", "Merges"]}
    file.write_text(json.dumps({"skill_name": "parallel", key: [row]}))
    dataset = read_dataset(file, formats)
    assert dataset.name == "parallel"
    texts = [rubric.text for rubric in dataset.cases[0].rubrics]
    assert texts == ["Starts four workers", "Merges"]


def test_expected_behavior_of_plain_rows_is_a_rubric(file: Path, formats: list[Format]):
    case = read(file, formats, {"question": "Open?", "expected_behavior": "Names the hours"})
    assert [rubric.text for rubric in case.rubrics] == ["Names the hours"]


@pytest.mark.parametrize(
    "message",
    [{"role": "user", "content": "Fix the test"}, {"content": [{"type": "text", "text": "Fix"}]}],
)
def test_lines_of_a_coding_agents_session_are_not_rows(message: Json):
    assert not RowsFormat().claims_row({"type": "user", "message": message})


def test_forbidden_texts_and_tools_are_assertions(file: Path, formats: list[Format]):
    row = {
        "question": "Can I return it?",
        "must_not_contain": ["I can't"],
        "forbidden_tools": ["create_return"],
    }
    case = read(file, formats, row)
    assert case.reference == {
        "assertions": [
            {"type": "not-icontains", "value": "I can't"},
            {"type": "not-trajectory:tool-used", "value": "create_return"},
        ]
    }
    assert case.metadata == {}
    assert RowsFormat().write_case(case) == row
    silent = Trace(id="t", turns=(Turn(response="Sorry, i CAN'T say.", tool_calls=()),))
    score = Assertions().score(case, silent)
    assert isinstance(score, Score)
    assert score.value == 0.5


@pytest.mark.parametrize(
    "document",
    [
        {"examples": [{"id": "a", "input": "Open on Sunday?", "expected": "No", "context": ["x"]}]},
        {"examples": [{"id": "a", "question": "Open on Sunday?", "answer": "No"}]},
        [{"id": "a", "input": "Open on Sunday?", "expected_output": "No", "context": ["x"]}],
        [{"id": "a", "input": "Open?", "expected_output": "No", "expected_tools": ["hours"]}],
    ],
)
def test_rows_that_other_formats_cannot_hold_are_plain_rows(
    document: object, file: Path, formats: list[Format]
):
    file.write_text(json.dumps(document))
    assert open_golden(file, formats).format.name == "rows"
    (case,) = read_dataset(file, formats).cases
    assert (case.id, case.turns[0].response) == ("a", "No")
