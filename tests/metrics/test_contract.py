from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from carob.metrics import evaluate
from carob.metrics.contract import Contract
from carob.metrics.contracts import examples
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored

pytest.importorskip("jsonschema")

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
    assert check(name, json.dumps(GOOD[name]), examples()) == Score(value=1.0)


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
def test_each_example_refuses_what_is_not_its_shape(name: str, answer: str):
    outcome = check(name, answer, examples())
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0


def test_reason_names_the_place():
    outcome = check("P", '{"x": "one"}', {"P": POINT})
    assert isinstance(outcome, Score)
    assert outcome.reason == "P: $.x: 'one' is not of type 'integer'"


@pytest.mark.parametrize("response", ["Here you go: {}", "", "{'x': 1}", "[" * 100_000])
def test_what_does_not_parse_is_no_json(response: str):
    outcome = check("P", response, {"P": POINT})
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0
    assert outcome.reason.startswith("the response is no JSON: ")


def test_what_cannot_be_checked_is_unscored():
    assert check(None, "{}", {}) == Unscored(reason="the case expects no contract")
    assert check("P", None, {"P": POINT}) == Unscored(reason="the response was not recorded")
    assert check("Q", "{}", {"P": POINT}) == Unscored(reason="no schema is given for 'Q'; given: P")


def test_reference_to_another_document_is_not_followed():
    outcome = check("P", "{}", {"P": {"$ref": "http://127.0.0.1:9/schema.json"}})
    assert isinstance(outcome, Failed)
    assert "http://127.0.0.1:9/schema.json" in outcome.message
