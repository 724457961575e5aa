from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.datasets.formats.simulation import SimulationFormat
from carob.datasets.formats.simulation_rows import SimulationRow
from carob.datasets.patch import apply, same
from carob.datasets.read import open_golden
from carob.datasets.shape_errors import find_shape_errors
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import (
    AgentMessage,
    Case,
    Json,
    Problem,
    Scenario,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    content_id,
)

Object = dict[str, Json]
Some = dict[str, st.SearchStrategy[object]]

SAMPLES = Path(__file__).parents[2] / "samples" / "simulation"
TABLE = SimulationFormat().cases("table")
ROWS = SimulationFormat().cases("rows")


def row(**columns: Json) -> Object:
    return {"user_inputs": ["Hi", "Where is my order?"], "final_response": "On its way.", **columns}


def cells(doc: Object) -> Object:
    texts = {
        name: doc[name] if isinstance(doc[name], str) else json.dumps(doc[name]) for name in doc
    }
    return {name: text for name, text in texts.items() if text}


def read_trace(doc: Object) -> Trace:
    trace = ROWS.read(doc).recorded
    assert trace
    return trace


def errors(doc: Object) -> list[Problem]:
    return [problem for problem in SimulationFormat().check(doc) if problem.severity == "error"]


def objects(needed: Some, optional: Some) -> st.SearchStrategy[Object]:
    """Objects with their keys in any order."""
    rows = st.fixed_dictionaries(needed, optional=optional)
    shuffled = rows.flatmap(lambda members: st.permutations(list(members.items())))
    return shuffled.map(lambda pairs: cast("Object", dict(pairs)))


TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(["1", "null", '"a"'])
LEAF = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 1.0]) | TEXT
FREE = st.dictionaries(TEXT, LEAF | st.lists(LEAF, max_size=2), max_size=2)
USE = objects(
    {"tool_name": TEXT},
    {"input_arguments": FREE, "call_id": st.none() | TEXT, "output_result": LEAF, "note": LEAF},
)
MESSAGES = objects({}, {"name": TEXT, "text": TEXT, "agent_name": TEXT, "text_response": TEXT})
EXTRACTED = objects(
    {},
    {
        "state_variables": st.none() | FREE,
        "tool_interactions": st.lists(USE, max_size=3),
        "grounding_chunks": st.lists(LEAF, max_size=2),
        "thinking_trace": LEAF,
    },
)
REFERENCE = objects(
    {},
    {
        "reference_trajectory": st.lists(TEXT, max_size=2),
        "expected_response": LEAF,
        "expected_response_contains": LEAF | st.lists(TEXT, max_size=2),
        "own": LEAF,
    },
)
DOCS = objects(
    {"user_inputs": st.lists(TEXT, max_size=3)},
    {
        "eval_id": TEXT,
        "question_id": TEXT,
        "sessionId": TEXT,
        "final_response": LEAF | FREE,
        "sub_agent_trace": st.none() | st.lists(MESSAGES, max_size=3),
        "trace_summary": TEXT,
        "extracted_data": st.none() | EXTRACTED,
        "session_trace": st.lists(FREE, max_size=2),
        "agents_evaluated": st.lists(TEXT, max_size=2),
        "question_metadata": FREE,
        "reference_data": st.none() | REFERENCE,
        "metric.total_tokens": LEAF,
        "reviewer": LEAF,
    },
)


@given(doc=DOCS)
def test_written_row_and_the_rest_make_the_original_row(doc: Object):
    assert same(apply(ROWS.write(ROWS.read(doc)), ROWS.find_extra(doc)), doc)
    assert apply(TABLE.write(TABLE.read(cells(doc))), TABLE.find_extra(cells(doc))) == cells(doc)


def with_answer(case: Case, answer: str) -> Case:
    trace = case.recorded or Trace(id=case.id, case=case.id)
    *first, last = trace.turns or (Turn(),)
    turns = (*first, msgspec.structs.replace(last, response=answer))
    return msgspec.structs.replace(case, recorded=msgspec.structs.replace(trace, turns=turns))


@given(doc=DOCS, answer=TEXT.map(lambda text: text.replace("\0", "0")).filter(bool))
def test_edited_answer_and_unknown_columns_are_preserved(doc: Object, answer: str):
    for lens, source in ((ROWS, doc), (TABLE, cells(doc))):
        edited = with_answer(lens.get(source), answer)
        output = cast("Object", lens.put(edited, {lens.key: lens}).doc)
        again = lens.read(output).recorded
        assert again
        assert again.turns[-1].response == answer
        assert output.get("reviewer") == source.get("reviewer")


@given(doc=DOCS)
def test_table_preserves_values_that_only_rows_can_store(doc: Object):
    case = ROWS.read(doc)
    output = TABLE.put(case, {})
    back = TABLE.get(output.doc, output.round_trip)
    assert all(isinstance(cell, str) and cell for cell in cast("Object", output.doc).values())
    assert msgspec.structs.replace(back, origin=None) == case


def test_order_of_columns_is_not_part_of_the_rest():
    doc = cells(row(extracted_data={}))
    assert TABLE.find_extra(dict(reversed(doc.items()))) is None


def test_tool_calls_and_messages_are_in_the_last_turn():
    use: Object = {"tool_name": "find", "input_arguments": {"id": 1}, "call_id": "c1"}
    extracted: Json = {
        "state_variables": {"id": 1},
        "tool_interactions": [{**use, "output_result": 7}],
    }
    trace = read_trace(row(session_id="s1", extracted_data=extracted))
    assert trace.id == "s1"
    assert trace.state == {"id": 1}
    assert trace.turns == (
        Turn(user="Hi", tool_calls=()),
        Turn(
            user="Where is my order?",
            response="On its way.",
            tool_calls=(ToolCall(name="find", args={"id": 1}, id="c1"),),
            tool_results=(ToolResult(name="find", id="c1", result=7),),
        ),
    )


@pytest.mark.parametrize(("name", "text"), [("name", "text"), ("agent_name", "text_response")])
def test_messages_of_agents_are_read_in_both_spellings(name: str, text: str):
    messages: Json = [{name: "a", text: "1"}, {name: "a", text: "2"}, {name: "b", text: "3"}]
    turn = read_trace(row(sub_agent_trace=messages)).turns[-1]
    assert turn.messages == (
        AgentMessage(agent="a", text="1"),
        AgentMessage(agent="a", text="2"),
        AgentMessage(agent="b", text="3"),
    )
    assert turn.agents == ("a", "b")


def test_golden_part_is_read_as_in_questions():
    reference: Json = {
        "reference_tool_interactions": [{"tool_name": "find"}],
        "expected_response": "Tomorrow.",
        "own": 1,
    }
    case = ROWS.read(row(eval_id="q1", reference_data=reference, agents_evaluated=["support"]))
    assert case.tool_calls == (ToolCall(name="find"),)
    assert case.turns[-1].response == "Tomorrow."
    assert (case.id, case.agents, case.reference) == ("q1", ("support",), {"own": 1})


def test_other_columns_are_attributes_with_their_json_decoded():
    doc = cells(row(status={"boolean": True}, reviewer="team", **{"score.match": 0.5}))
    trace = TABLE.read(doc).recorded
    assert trace
    assert trace.attributes == {"status": {"boolean": True}, "reviewer": "team", "score.match": 0.5}


def test_object_answer_is_preserved_as_json_text():
    assert (
        read_trace(row(final_response={"text": "Grüße"})).turns[-1].response == '{"text": "Grüße"}'
    )


def test_row_without_an_id_gets_one_that_is_not_written():
    case = ROWS.read(row())
    assert case.id == content_id("Hi", "Where is my order?")
    assert "eval_id" not in cast("Object", ROWS.write(case))


def test_id_that_looks_like_a_number_stays_a_string():
    assert TABLE.read(cells(row(eval_id="007"))).id == "007"


FOREIGN = {
    "nothing": Case(id="x"),
    "a scenario": Case(id="x", scenario=Scenario(prompt="Hi", plan="Ask for a refund.")),
    "an empty trace": Case(id="x", recorded=Trace(id="x")),
    "odd attributes": Case(
        id="x",
        metadata={"tags": ["a", 1]},
        recorded=Trace(
            id="t",
            turns=(Turn(user=None, tool_results=(ToolResult(name="a", error="down"),)),),
            attributes={"userInputs": 3, "extracted_data": {"toolInteractions": "?"}, "n": "1"},
        ),
    ),
}


@pytest.mark.parametrize("container", ["table", "rows"])
@pytest.mark.parametrize("case", FOREIGN.values(), ids=FOREIGN)
def test_case_of_any_other_format_makes_a_valid_row(case: Case, container: Container):
    lens = SimulationFormat().cases(container)
    doc = cast("Object", lens.write(case))
    assert list(find_shape_errors(doc, SimulationRow)) == []
    assert errors(doc) == []
    assert SimulationFormat().claims(doc)
    assert lens.read(doc).id == "x"


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_sample_is_claimed_and_valid(path: Path):
    rows = [cast("Object", row.value) for row in open_golden(path, [SimulationFormat()]).items()]
    assert SimulationFormat().claims(rows[0])
    assert [errors(doc) for doc in rows] == [[] for _ in rows]


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("extracted_data", "{'a': 1}", "expected JSON, got the string \"{'a': 1}\""),
        ("sub_agent_trace", "none", "expected JSON, got the string 'none'"),
        ("user_inputs", '{"a": 1}', "expected `str | array | null`, got `object`"),
        ("user_inputs", "[1]", "expected `str`, got `int`"),
    ],
)
def test_invalid_cell_is_reported_with_its_path(column: str, cell: str, message: str):
    with pytest.raises(FormatError) as caught:
        TABLE.get(cells(row(**{column: cell})))
    assert caught.value.message == message
    assert (caught.value.where or "").startswith(f"$.{column}")


BROKEN: list[tuple[Object, str, str]] = [
    ({"user_inputs": []}, "$.user_inputs", "got an empty list"),
    ({"user_inputs": "Hi"}, "$.user_inputs", "got the string 'Hi'"),
    ({"user_inputs": "[1]"}, "$.user_inputs[0]", "expected a string, got the number 1"),
    ({"extracted_data": "{"}, "$.extracted_data", "not valid JSON"),
    ({"session_trace": "[{'name': 'x'}]"}, "$.session_trace", "write it with `json.dumps`"),
    ({"extracted_data": '{"tool_interactions": 3}'}, "$.extracted_data.tool_interactions", "list"),
]


@pytest.mark.parametrize(("columns", "where", "words"), BROKEN)
def test_broken_rule_is_reported_with_its_path(columns: Object, where: str, words: str):
    (problem,) = errors(row(**columns))
    assert problem.where == where
    assert words in f"{problem.message} {problem.hint}"


def test_required_column_without_a_value_is_only_a_warning():
    (problem,) = SimulationFormat().check(row(trace_summary="…", session_trace=[]))
    assert problem.severity == "warning"
    assert problem.message == "missing values in 'sub_agent_trace', 'extracted_data'"
