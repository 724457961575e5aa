from __future__ import annotations

import json
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from carob.metrics import evaluate
from carob.metrics.text.contract import Contract
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored

for package in Contract.imports:
    pytest.importorskip(package)

EXAMPLES: dict[str, Any] = {
    file.stem: json.loads(file.read_text("utf-8"))
    for file in (Path(__file__).parents[2] / "samples" / "contracts").glob("*.json")
}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TIMED = {"scheduleTime": "2026-03-02T09:00:00Z", "subject": "Start", "body": "Unit 1 is open."}
GOOD: dict[str, Any] = {
    "LearningPathCurationOutput": {
        "rationale": "Covers the exam's first half.",
        "learningPaths": [
            {
                "title": "Storage",
                "url": "https://example.com/p",
                "estimatedHours": 6,
                "relevance": "high",
            }
        ],
        "modules": [
            {
                "id": "m1",
                "title": "Blobs",
                "url": "https://example.com/m",
                "skillFocus": "storage",
                "moduleUnitIds": ["u1"],
            }
        ],
        "targets": [{"title": "AZ-900", "type": "exam", "url": "https://example.com/t"}],
    },
    "StudyPlanOutput": {
        "rationale": "Four hours a week are free.",
        "planTitle": "Storage in a week",
        "durationWeeks": 1,
        "weeklyHours": 4,
        "weeklyMilestones": [
            {
                "weekNumber": 1,
                "objective": "Blobs",
                "sessions": [
                    {"day": "Monday", "durationMinutes": 60, "tasks": ["Read"], "urls": []}
                ],
                "checkpoint": "Quiz",
            }
        ],
        "briefMessageToUser": "Here is your plan.",
    },
    "EngagementPlanOutput": {
        "rationale": "Evenings work best.",
        "recipientEmail": "learner@example.com",
        "reminders": [TIMED],
        "motivationMessages": [{"scheduleTime": "2026-03-03T18:00", "body": "Keep going."}],
    },
    "AssessmentQuestionSetOutput": {
        "introMessage": "Ten questions.",
        "questions": [
            {
                "questionId": f"q{number}",
                "prompt": "Which one?",
                "options": [{"optionId": letter, "text": f"Answer {letter}"} for letter in "ABCD"],
                "correctOptionId": "B",
                "explanation": "B is right.",
            }
            for number in range(10)
        ],
    },
}


def check(name: str | None, response: str | None, contracts: dict[str, Any]) -> object:
    case = Case(id="c", contract=name)
    trace = Trace(id="t", turns=(Turn(response="Working on it."), Turn(response=response)))
    return evaluate(Contract(contracts=contracts), case, trace)


def broken(name: str, *path: str | int, value: object = None) -> str:
    answer = deepcopy(GOOD[name])
    place = answer
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(answer)


@pytest.mark.parametrize("name", sorted(GOOD))
def test_each_example_accepts_its_shape(name: str):
    assert check(name, json.dumps(GOOD[name]), EXAMPLES) == Score(value=1.0)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("LearningPathCurationOutput", broken("LearningPathCurationOutput", "targets")),
        (
            "LearningPathCurationOutput",
            broken("LearningPathCurationOutput", "learningPaths", 0, "estimatedHours", value="6"),
        ),
        ("StudyPlanOutput", broken("StudyPlanOutput", "weeklyMilestones", 0, "sessions")),
        ("StudyPlanOutput", broken("StudyPlanOutput", "durationWeeks", value=1.5)),
        (
            "EngagementPlanOutput",
            broken("EngagementPlanOutput", "reminders", 0, "scheduleTime", value="soon"),
        ),
        ("AssessmentQuestionSetOutput", broken("AssessmentQuestionSetOutput", "questions", 9)),
        (
            "AssessmentQuestionSetOutput",
            broken(
                "AssessmentQuestionSetOutput", "questions", 0, "options", 0, "optionId", value="B"
            ),
        ),
        (
            "AssessmentQuestionSetOutput",
            broken("AssessmentQuestionSetOutput", "questions", 0, "correctOptionId", value="E"),
        ),
    ],
)
def test_each_example_rejects_another_shape(name: str, answer: str):
    outcome = check(name, answer, EXAMPLES)
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0


def test_reason_names_the_path():
    outcome = check("P", '{"x": "one"}', {"P": POINT})
    assert isinstance(outcome, Score)
    assert outcome.reason == "P: $.x: 'one' is not of type 'integer'"


def test_long_violations_are_cut_and_many_are_counted():
    long = check("P", json.dumps("é" * 500), {"P": POINT})
    assert isinstance(long, Score)
    assert long.reason == f"P: $: {repr('é' * 500)[:200]}"
    many = check("P", json.dumps(["x"] * 7), {"P": {"items": {"type": "integer"}}})
    assert isinstance(many, Score)
    assert many.reason.endswith("; $[4]: 'x' is not of type 'integer'; and 2 more")
    five = check("P", json.dumps(["x"] * 5), {"P": {"items": {"type": "integer"}}})
    assert isinstance(five, Score)
    assert five.reason.endswith("; $[4]: 'x' is not of type 'integer'")


@pytest.mark.parametrize("response", ["Here you go: {}", "", "{'x': 1}", "[" * 100_000])
def test_response_that_does_not_parse_scores_zero(response: str):
    outcome = check("P", response, {"P": POINT})
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    assert outcome.reason.startswith("the response is not valid JSON: ")


def test_case_without_a_known_contract_is_unscored():
    assert check(None, "{}", {}) == Unscored(
        reason="the case expects no contract", not_applicable=True
    )
    assert check("Q", "{}", {"R": POINT, "P": POINT}) == Unscored(
        reason="no schema for the contract 'Q'; known: P, R"
    )
    assert check("Q", "{}", {}) == Unscored(reason="no schema for the contract 'Q'; known: none")


def test_missing_response_is_zero_and_one_that_was_not_recorded_is_unscored():
    assert check("P", None, {"P": POINT}) == Score(value=0.0, reason="no response")
    metric, case = Contract(contracts={"P": POINT}), Case(id="c", contract="P")
    crashed = Trace(id="t", turns=(Turn(error="HTTP 500"),))
    assert metric.score(case, crashed) == Score(value=0.0, reason="no response: HTTP 500")
    for turns in ((), (Turn(),)):
        assert metric.score(case, Trace(id="t", turns=turns)) == Unscored(
            reason="the response was not recorded"
        )


def test_reference_to_another_document_is_not_followed():
    outcome = check("P", "{}", {"P": {"$ref": "http://127.0.0.1:9/schema.json"}})
    assert isinstance(outcome, Failed)
    assert "http://127.0.0.1:9/schema.json" in outcome.message


HANGING = ["(a+){12}b", "(a|aa)+$"]


@pytest.mark.parametrize("pattern", HANGING)
def test_no_pattern_of_a_schema_can_hang_a_run(pattern: str):
    text = "a" * 50_000 + "!"
    schema = {
        "properties": {"text": {"pattern": pattern}},
        "patternProperties": {pattern: {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    started = time.process_time()
    outcome = check("P", json.dumps({"text": text, text: "x"}), {"P": schema})
    assert time.process_time() - started < 2
    assert isinstance(outcome, Score)
    assert outcome.details == {"violations": 1}


def test_pattern_properties_and_additional_properties_share_the_patterns():
    schema = {"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False}
    assert check("P", '{"x-a": 1}', {"P": schema}) == Score(value=1.0)
    wrong = check("P", '{"x-a": "1", "y": 2}', {"P": schema})
    assert isinstance(wrong, Score)
    assert wrong.details == {"violations": 2}
    assert "'y' was unexpected" in wrong.reason


def test_pattern_that_re2_cannot_express_fails_the_case():
    outcome = check("P", '"abc"', {"P": {"pattern": "(?=a)"}})
    assert isinstance(outcome, Failed)
    assert "RE2 has no lookaround" in outcome.message


def test_patterns_that_jsonschema_would_run_itself_are_rejected():
    schema = {"patternProperties": {"a": True}, "unevaluatedProperties": False}
    message = (
        "contracts: P: unevaluatedProperties with patternProperties is not supported,"
        " use additionalProperties"
    )
    with pytest.raises(ValueError, match=f"^{message}$"):
        Contract(contracts={"P": {"items": [schema]}})
