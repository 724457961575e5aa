from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carob.api.load import load
from carob.datasets.formats import Format
from carob.datasets.read import read_dataset
from carob.datasets.validate import validate
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset

SAMPLES = Path(__file__).parents[2] / "samples"
DELETE = object()
Oracle = Callable[[object], dict[str, Any]]

MUTATIONS: list[tuple[str, Any]] = [
    ("eval_set_id", DELETE),
    ("eval_set_id", 7),
    ("eval_set_id", None),
    ("evalSetId", "again"),
    ("surprise", {"kept": False}),
    ("name", None),
    ("name", 3),
    ("description", ["x"]),
    ("creation_timestamp", "1.5"),
    ("creation_timestamp", " 1e3 "),
    ("creation_timestamp", "soon"),
    ("creation_timestamp", ""),
    ("creation_timestamp", True),
    ("creation_timestamp", None),
    ("eval_cases", {}),
    ("eval_cases", []),
    ("eval_cases.0", "text"),
    ("eval_cases.0.eval_id", DELETE),
    ("eval_cases.0.eval_id", 1),
    ("eval_cases.0.evalId", "camel"),
    ("eval_cases.0.EvalId", "pascal"),
    ("eval_cases.0.carob", {"lost": None}),
    ("eval_cases.0.anything", [1]),
    ("eval_cases.0.conversation", DELETE),
    ("eval_cases.0.conversation", None),
    ("eval_cases.0.conversation", []),
    ("eval_cases.0.conversation", {}),
    ("eval_cases.0.conversation_scenario", {"starting_prompt": "a", "conversation_plan": "b"}),
    ("eval_cases.0.conversationScenario", None),
    ("eval_cases.0.final_session_state", None),
    ("eval_cases.0.final_session_state", []),
    ("eval_cases.0.session_input", {}),
    ("eval_cases.0.session_input.user_id", 5),
    ("eval_cases.0.session_input.state", None),
    ("eval_cases.0.session_input.extra", 1),
    ("eval_cases.0.session_input.userId", "again"),
    ("eval_cases.0.rubrics", [{"rubric_id": "a"}]),
    ("eval_cases.0.rubrics", [{"rubric_id": "a", "rubric_content": {}}]),
    ("eval_cases.0.rubrics", [{"rubric_id": "a", "rubric_content": {"text": "b"}}]),
    ("eval_cases.0.rubrics", [{"rubricId": "a", "rubricContent": {"textProperty": "b"}}]),
    ("eval_cases.0.conversation.0.user_content", DELETE),
    ("eval_cases.0.conversation.0.user_content", "hello"),
    ("eval_cases.0.conversation.0.user_content", {}),
    ("eval_cases.0.conversation.0.user_content.parts", "hello"),
    ("eval_cases.0.conversation.0.user_content.parts", [{}]),
    ("eval_cases.0.conversation.0.user_content.parts", [{"txt": "a"}]),
    ("eval_cases.0.conversation.0.user_content.parts", [None]),
    ("eval_cases.0.conversation.0.user_content.role", 1),
    ("eval_cases.0.conversation.0.userContent", {}),
    ("eval_cases.0.conversation.0.unknown", 1),
    ("eval_cases.0.conversation.0.invocation_id", 3),
    ("eval_cases.0.conversation.0.invocation_id", None),
    ("eval_cases.0.conversation.0.InvocationId", "x"),
    ("eval_cases.0.conversation.0.duration", "2.5"),
    ("eval_cases.0.conversation.0.duration", "long"),
    ("eval_cases.0.conversation.0.final_response", None),
    ("eval_cases.0.conversation.0.intermediate_data", {}),
    ("eval_cases.0.conversation.0.intermediate_data", []),
    ("eval_cases.0.conversation.0.intermediate_data.tool_uses", None),
    ("eval_cases.0.conversation.0.intermediate_data.tool_uses", [{}]),
    ("eval_cases.0.conversation.0.intermediate_data.tool_uses", [{"arguments": {}}]),
    ("eval_cases.0.conversation.0.intermediate_data.tool_uses", [{"args": []}]),
    ("eval_cases.0.conversation.0.intermediate_data.tool_uses", [{"name": "a", "id": 4}]),
    ("eval_cases.0.conversation.0.intermediate_data.toolUses", []),
    ("eval_cases.0.conversation.0.intermediate_data.invocation_events", []),
    ("eval_cases.0.conversation.0.intermediate_data", {"invocation_events": []}),
    ("eval_cases.0.conversation.0.intermediate_data", {"invocationEvents": [{"author": "a"}]}),
    ("eval_cases.0.conversation.0.intermediate_data", {"invocation_events": [{}]}),
    ("eval_cases.0.conversation.0.intermediate_data", {"invocation_events": None}),
    (
        "eval_cases.0.conversation.0.intermediate_data",
        {"invocation_events": [{"author": "a", "more": 1, "usage_metadata": {"tokens": 1}}]},
    ),
    (
        "eval_cases.0.conversation.0.intermediate_data",
        {"invocation_events": [{"author": "a", "usage_metadata": {"total_token_count": "3"}}]},
    ),
    (
        "eval_cases.0.conversation.0.intermediate_data.intermediate_responses",
        [["a", [{"functionCall": {"name": "f"}}]]],
    ),
    ("eval_cases.0.conversation.0.intermediate_data.intermediate_responses", [["a"]]),
    ("eval_cases.0.conversation.0.intermediate_data.intermediate_responses", [["a", [], 1]]),
    ("eval_cases.0.conversation.0.app_details", {"agent_details": {"a": {}}}),
    ("eval_cases.0.conversation.0.app_details", {"agentDetails": {"a": {"name": "a"}}}),
]
PARTS: list[dict[str, Any]] = [
    *({"thought_signature": text} for text in ("YWI=", "YWI", "-_-_", "+/+/", "Y", "ä", "YWI==")),
    *({"thought_signature": text} for text in ("YWJ=", "+-+-", "")),
    *({"thought": value} for value in (True, 1, 0, 1.0, 2, "yes", "T", "maybe", "", None)),
    *({"media_resolution": {"num_tokens": count}} for count in ("3", 3.0, 3.5, True, "x")),
    {"media_resolution": {"level": "whatever"}},
    {"media_resolution": {"level": 3}},
    {"inline_data": {"mime_type": "image/png", "data": "aGVsbG8="}},
    {"inline_data": {"mimeType": "image/png", "bytes": "aGVsbG8="}},
    {"file_data": {"file_uri": 3}},
    {"function_call": {"name": "a", "partial_args": [{"null_value": "NULL_VALUE"}]}},
    {"function_call": {"name": "a", "partial_args": [{"null_value": "X"}]}},
    {"function_response": {"response": "text"}},
    {"part_metadata": {"free": [1]}},
]
PERSONAS: list[Any] = [
    *("EXPERT", "NOVICE", "EVALUATOR", "expert", "", 3, None, {"id": "a"}),
    {"id": "a", "description": "b", "behaviors": [], "more": 1},
    {"id": "a", "description": "b", "behaviors": [{"name": "x"}]},
]


def full_document() -> dict[str, Any]:
    turn: dict[str, Any] = {
        "user_content": {"parts": [{"text": "Hi"}], "role": "user"},
        "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}], "tool_responses": []},
    }
    session = {"app_name": "shop", "user_id": "u"}
    case: dict[str, Any] = {"eval_id": "a", "conversation": [turn], "session_input": session}
    return {"eval_set_id": "s", "eval_cases": [case]}


def mutated(path: str, value: Any) -> dict[str, Any]:
    document = full_document()
    target: Any = document
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in way:
        target = target[key]
    if value is DELETE:
        del target[last]
    else:
        target[last] = value
    return document


def with_part(part: dict[str, Any]) -> dict[str, Any]:
    return mutated("eval_cases.0.conversation.0.user_content.parts", [part])


def with_persona(persona: Any) -> dict[str, Any]:
    scenario = {"starting_prompt": "a", "conversation_plan": "b", "user_persona": persona}
    document = mutated("eval_cases.0.conversation", DELETE)
    document["eval_cases"][0]["conversation_scenario"] = scenario
    return document


DOCUMENTS = [
    *(mutated(place, value) for place, value in MUTATIONS),
    *map(with_part, PARTS),
    *map(with_persona, PERSONAS),
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: json.dumps(document)[-70:])
def test_file_is_valid_if_and_only_if_google_adk_loads_it(
    document: dict[str, Any], adk: Oracle, formats: list[Format], tmp_path: Path
) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(document))
    result = validate(path, formats)
    answer = adk(document)
    assert result.valid == answer["loads"], (result.problems, answer["error"])
    assert all(problem.where for problem in result.problems)
    if result.valid:
        read_dataset(path, formats)


@pytest.mark.parametrize("how", ["written", "full"])
@pytest.mark.parametrize("sample", sorted((SAMPLES / "adk").glob("*.json")), ids=lambda p: p.name)
def test_documents_of_google_adk_round_trip(
    sample: Path, how: str, adk: Oracle, formats: list[Format], tmp_path: Path
) -> None:
    document = adk(json.loads(sample.read_text()))[how]
    source, copy = tmp_path / "a.json", tmp_path / "b.json"
    source.write_text(document)
    write_dataset(
        prepare_dataset(
            read_dataset(source, formats), choose_destination(copy, adk_format(formats)), formats
        )
    )
    assert json.loads(copy.read_text()) == json.loads(document)
    if how == "written":
        assert copy.read_text() == document + "\n"


def adk_format(formats: list[Format]) -> Format:
    return next(form for form in formats if form.name == "adk")


def samples() -> list[Path]:
    folders = [
        path for path in SAMPLES.iterdir() if path.name not in ("broken", "contracts", "traces")
    ]
    return sorted(path for folder in folders for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize("sample", samples(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_sample_converted_to_adk_loads_in_google_adk_and_stays_preserved(
    sample: Path, adk: Oracle, formats: list[Format], tmp_path: Path
) -> None:
    path = tmp_path / "set.json"
    write_dataset(
        prepare_dataset(
            read_dataset(sample, formats), choose_destination(path, adk_format(formats)), formats
        )
    )
    document = json.loads(path.read_text())
    answer = adk(document)
    assert answer["loads"], answer["error"]
    loaded = json.loads(answer["written"])["eval_cases"]
    preserved = [case.get("carob") for case in document["eval_cases"]]
    assert [case.get("carob") for case in loaded] == preserved
    assert validate(path, formats).valid


@pytest.mark.parametrize(("data", "expected"), [({}, ()), ({"tool_uses": []}, ()), (None, None)])
def test_empty_intermediate_data_expects_no_calls(
    tmp_path: Path, data: Any, expected: tuple[()] | None
):
    invocation = {"user_content": {"parts": [{"text": "Are you open?"}]}, "intermediate_data": data}
    cases = [{"eval_id": "hours", "conversation": [invocation]}]
    path = tmp_path / "hours.json"
    path.write_text(json.dumps({"eval_set_id": "shop", "eval_cases": cases}))
    assert load(path).cases[0].turns[0].tool_calls == expected
