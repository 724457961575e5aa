from __future__ import annotations

from pathlib import Path
from typing import cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.datasets.formats.explain import ExplainFormat, ExplainRow
from carob.datasets.formats.explain_rows import EVALS
from carob.datasets.patch import apply, same
from carob.datasets.shape_errors import find_shape_errors
from carob.datasets.source import open_source
from carob.errors import FormatError
from carob.schema import (
    Case,
    Json,
    Problem,
    Scenario,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
)

Object = dict[str, Json]

SAMPLES = Path(__file__).parents[2] / "samples" / "explain"
LENS = ExplainFormat().cases("rows")


def row(**fields: Json) -> Object:
    return {"case_id": "planner-001", "question": "Plan my week.", **fields}


def rewritten(case: Case) -> Object:
    return cast("Object", LENS.put(case, {LENS.key: LENS}).doc)


def errors(doc: Object) -> list[Problem]:
    return [problem for problem in ExplainFormat().check(doc) if problem.severity == "error"]


def sample_rows() -> list[Object]:
    paths = sorted(SAMPLES.iterdir())
    rows: list[Object] = []
    for path in paths:
        rows += [cast("Object", line.value) for line in open_source(path).rows()]
    return rows


Some = dict[str, st.SearchStrategy[object]]


def objects(needed: Some, optional: Some) -> st.SearchStrategy[Object]:
    """Objects with their keys in any order."""
    rows = st.fixed_dictionaries(needed, optional=optional)
    shuffled = rows.flatmap(lambda members: st.permutations(list(members.items())))
    return shuffled.map(lambda pairs: cast("Object", dict(pairs)))


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
TEXTS = st.none() | TEXT
LEAF = st.none() | st.booleans() | st.integers(-9, 9) | TEXT
ARGUMENTS = st.dictionaries(TEXT, LEAF | st.lists(LEAF, max_size=2), max_size=3)
CALL = objects(
    {"tool": TEXT},
    {
        "arguments": st.none() | ARGUMENTS,
        "reason": TEXTS,
        "outcome": st.sampled_from(["relevant", "error"]),
        "note": LEAF,
    },
)
CALLS = st.none() | st.lists(CALL, max_size=3)
ROWS = objects(
    {"case_id": TEXT, "question": TEXTS},
    {
        "scenario_id": TEXTS,
        "agentName": TEXTS,
        "phase": st.sampled_from(["preparation", "prep"]),
        "context": TEXTS,
        "modelAnswer": TEXTS,
        "model_answer": TEXTS,
        "reference_answer": TEXTS,
        "available_tools": st.none() | st.lists(TEXT, max_size=2),
        "expected_tool_calls": CALLS,
        "invoked_tool_calls": CALLS,
        "explain_inputs": st.dictionaries(st.sampled_from(sorted(EVALS)), ARGUMENTS, max_size=2),
        "required_evals": st.lists(st.sampled_from([*sorted(EVALS), "OwnExplain"]), max_size=3),
        "notes": LEAF,
        "review": ARGUMENTS,
    },
)


@given(doc=ROWS)
def test_written_row_and_the_rest_make_the_original_row(doc: Object):
    assert same(apply(LENS.write(LENS.read(doc)), LENS.find_extra(doc)), doc)


@given(doc=ROWS)
def test_edited_case_is_read_as_it_was_edited(doc: Object):
    edited = msgspec.structs.replace(LENS.get(doc), goal="Rest more.")
    assert LENS.read(rewritten(edited)) == msgspec.structs.replace(edited, origin=None)


@given(doc=ROWS, answer=TEXT)
def test_edited_answer_and_unknown_fields_are_preserved(doc: Object, answer: str):
    case = LENS.get(doc)
    turn = case.turns[0] if case.turns else Turn(user="?")
    turns = (msgspec.structs.replace(turn, response=answer),)
    output = rewritten(msgspec.structs.replace(case, turns=turns))
    assert LENS.get(output).turns[0].response == answer
    assert {name: output.get(name) for name in ("notes", "review")} == {
        name: doc.get(name) for name in ("notes", "review")
    }


def test_every_field_of_a_full_row_is_read():
    case = LENS.get(sample_rows()[-2])
    trace = case.recorded
    assert case.id == "planner-001"
    assert case.agents == ("planner",)
    assert case.metrics == ("RelevanceExplain", "TaskAdherenceExplain", "ToolCallAccuracyExplain")
    assert (case.profile, case.contract) == ("balanced", "StudyPlanOutput")
    assert case.metadata["learner_level"] == "beginner"
    assert [call.name for call in case.turns[0].tool_calls or ()] == [
        "find_modules",
        "build_schedule",
    ]
    assert trace
    assert trace.case == "planner-001"
    assert trace.turns[0].response == case.turns[0].response


@pytest.mark.parametrize("key", ["reason", "outcome"])
def test_reason_of_a_call_is_read_in_both_spellings(key: str):
    doc = row(expected_tool_calls=[{"tool": "search", key: "facts are needed"}])
    case = LENS.get(doc)
    assert case.turns[0].tool_calls == (ToolCall(name="search", reason="facts are needed"),)
    assert rewritten(msgspec.structs.replace(case, goal="help")) == {**doc, "task_goal": "help"}


def test_failed_call_has_an_error_as_its_result():
    case = LENS.get(row(invoked_tool_calls=[{"tool": "search", "outcome": "error"}]))
    turn = Turn(
        user="Plan my week.",
        tool_calls=(ToolCall(name="search", outcome="error"),),
        tool_results=(ToolResult(name="search", error="error"),),
    )
    assert case.recorded == Trace(id="planner-001", case="planner-001", turns=(turn,))


def test_inputs_of_the_evals_follow_an_edited_answer():
    case = Case.of("Plan my week.", id="planner-001")
    turn = Turn(user="Plan my week.", response="Two hours on Monday.")
    recorded = msgspec.structs.replace(
        case,
        metrics=("PerceivedIntelligenceExplain",),
        recorded=Trace(id="planner-001", case="planner-001", turns=(turn,)),
    )
    assert cast("Object", LENS.write(recorded))["explain_inputs"] == {
        "PerceivedIntelligenceExplain": {
            "input": "Two hours on Monday.",
            "question": "Plan my week.",
            "context": "",
            "rag_mode": "non-rag",
        }
    }


FOREIGN = {
    "nothing": Case(id="x"),
    "a scenario": Case(id="x", scenario=Scenario(prompt="Hi", plan="Ask for a refund.")),
    "several turns": Case(
        id="x",
        turns=(Turn(user="Hi", tool_calls=(ToolCall(name="a"),)), Turn(tool_calls=())),
        agents=("billing", "support"),
        metrics=("tool_recall", "RelevanceExplain"),
        metadata={"difficulty": "expert", "phase": 3, "topic_family": "AZ-900"},
        recorded=Trace(id="t", turns=(Turn(user="Hi", response="Hello"), Turn(response="Bye"))),
    ),
    "an empty trace": Case(id="x", metrics=("own",), recorded=Trace(id="t")),
}


@pytest.mark.parametrize("case", FOREIGN.values(), ids=FOREIGN)
def test_case_of_any_other_format_makes_a_valid_row(case: Case):
    doc = cast("Object", LENS.write(case))
    assert list(find_shape_errors(doc, ExplainRow)) == []
    assert errors(doc) == []
    assert ExplainFormat().claims(doc)
    assert LENS.read(doc).id == "x"


def test_every_sample_is_valid():
    assert {row["case_id"]: errors(row) for row in sample_rows() if errors(row)} == {}


def test_row_without_its_id_cannot_be_read():
    with pytest.raises(FormatError, match=r"^\$: .*`case_id`"):
        LENS.get({"question": "Plan my week."})


def test_wrong_type_is_reported_with_its_path():
    with pytest.raises(FormatError, match=r"^\$\.required_evals: expected `array \| null`"):
        LENS.get(row(required_evals="RelevanceExplain"))


BROKEN: list[tuple[Object, str, str]] = [
    ({"difficulty": "medum"}, "$.difficulty", "did you mean 'medium'?"),
    ({"required_evals": ["RelevanceExplian"]}, "$.required_evals[0]", "'RelevanceExplain'"),
    ({"question": None}, "$", "missing field 'question'"),
    ({"workflow_mode": "multi-agent"}, "$", "required in a comparative row"),
    ({"invoked_tool_calls": [{}]}, "$.invoked_tool_calls[0]", "missing field 'tool'"),
]


@pytest.mark.parametrize(("fields", "where", "words"), BROKEN)
def test_broken_rule_is_reported_with_its_path(fields: Object, where: str, words: str):
    problem = next(each for each in errors(row(**fields)) if each.where == where)
    assert words in f"{problem.message} {problem.hint}"


def test_id_of_another_pattern_is_only_a_warning():
    problems = [
        each for each in ExplainFormat().check(row(case_id="q1")) if each.where == "$.case_id"
    ]
    assert problems == [
        Problem(
            where="$.case_id",
            message="expected an id such as 'planner-001', got 'q1'",
            hint="ids have the form <agent>-<NNN>",
            severity="warning",
        )
    ]


ANSWERED: Object = {
    "model_answer": "Rest.",
    "required_evals": ["ToolCallAccuracyExplain"],
    "available_tools": ["search"],
    "invoked_tool_calls": [{"tool": "search", "arguments": {}, "outcome": "relevant"}],
}
BUNDLE: Object = {
    "input": "Rest.",
    "question": "Plan my week.",
    "availableTools": ["search"],
    "invokedTools": '[{"tool": "search", "arguments": {}, "outcome": "relevant"}]',
}


@pytest.mark.parametrize(
    ("inputs", "where"),
    [
        (None, "$"),
        ({}, "$.explain_inputs"),
        ({"ToolCallAccuracyExplain": {}}, "$.explain_inputs.ToolCallAccuracyExplain"),
        (
            {"ToolCallAccuracyExplain": {**BUNDLE, "input": "Work."}},
            "$.explain_inputs.ToolCallAccuracyExplain.input",
        ),
        (
            {"ToolCallAccuracyExplain": {**BUNDLE, "availableTools": "search"}},
            "$.explain_inputs.ToolCallAccuracyExplain.availableTools",
        ),
        ({"ToolCallAccuracyExplain": BUNDLE, "Fluency": {}}, "$.explain_inputs.Fluency"),
    ],
)
def test_inputs_must_be_complete_and_agree_with_the_row(inputs: Json, where: str):
    assert {problem.where for problem in errors(row(**ANSWERED, explain_inputs=inputs))} == {where}


def test_inputs_may_contain_lists_as_json_text():
    assert errors(row(**ANSWERED, explain_inputs={"ToolCallAccuracyExplain": BUNDLE})) == []


def test_invoked_tools_must_be_available():
    calls: list[Json] = [{"tool": "search"}, {"tool": "serch"}, {"tool": "pay", "outcome": "error"}]
    checked = ExplainFormat().check(row(available_tools=["search"], invoked_tool_calls=calls))
    (problem,) = [problem for problem in checked if problem.severity == "error"]
    assert problem.where == "$.invoked_tool_calls[1].tool"
    assert problem.message == "invoked tool 'serch' is not among the available tools"
    assert problem.hint == "did you mean 'search'?"


def test_invoked_tools_are_not_checked_without_a_list_of_available_tools():
    checked = ExplainFormat().check(row(invoked_tool_calls=[{"tool": "search"}]))
    assert not [problem for problem in checked if problem.severity == "error"]
