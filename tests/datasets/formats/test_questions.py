from __future__ import annotations

from pathlib import Path
from typing import Any

from carob.datasets.formats.questions import QuestionsFormat


def question(**more: Any) -> dict[str, Any]:
    base = {"id": "a", "user_inputs": ["x"], "agents_evaluated": ["b"]}
    return {**base, "reference_data": {"expected_response": "y"}, **more}


def test_empty_fields_are_warnings_with_their_paths():
    item = question(user_inputs=[], reference_data={})
    problems = list(QuestionsFormat().check(item))
    assert [(problem.where, problem.severity) for problem in problems] == [
        ("$.user_inputs", "warning"),
        ("$.reference_data", "warning"),
    ]


def test_tool_without_a_name_is_an_error():
    calls = [{"tool_name": "f"}, {"tool_name": ""}]
    (problem,) = QuestionsFormat().check(
        question(reference_data={"reference_tool_interactions": calls})
    )
    assert problem.where == "$.reference_data.reference_tool_interactions[1].tool_name"


def test_name_of_the_file_is_a_note():
    good = Path("evaluation/datasets/shop_golden.json")
    assert not list(QuestionsFormat().check_frame({}, good))
    (problem,) = QuestionsFormat().check_frame({}, Path("shop.json"))
    assert problem.severity == "note"


def test_only_turn_gets_the_expectations_of_the_case():
    reference = {"reference_tool_interactions": [{"tool_name": "f"}], "expected_response": "y"}
    case = QuestionsFormat().cases("document").get(question(reference_data=reference))
    assert case.turns[0].response == "y"
    assert [call.name for call in case.turns[0].tool_calls or ()] == ["f"]
    assert case.tool_calls is None


def test_empty_list_of_agents_means_not_specified():
    assert QuestionsFormat().cases("document").get(question(agents_evaluated=[])).agents is None
