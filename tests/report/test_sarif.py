from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from carob.errors import UsageError
from carob.report.forms import ReportInputs
from carob.report.sarif import format_run_sarif
from carob.schema import CaseResult, CaseScore, Run
from carob.schema.run import ProfileVerdict

MakeRun = Callable[..., Run]

_TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_ESSENTIALS = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id", "shortDescription"],
                                            "properties": {"shortDescription": _TEXT},
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
                            "properties": {
                                "level": _LEVEL,
                                "message": _TEXT,
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "required": ["uri"],
                                                        "properties": {
                                                            "uri": {"pattern": r"^[^\s\\]+$"}
                                                        },
                                                    },
                                                    "region": {
                                                        "required": ["startLine"],
                                                        "properties": {
                                                            "startLine": {
                                                                "type": "integer",
                                                                "minimum": 1,
                                                            }
                                                        },
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The parts of the SARIF 2.1.0 schema that Carob uses."""

CASE_LINES = {"late": ("gold.json", 12), "odd": ("gold.json", 40)}


def score(metric: str = "m", status: str = "failed", reason: str = "missing lookup()") -> CaseScore:
    value = 0.25 if status == "failed" else None
    return CaseScore(metric=metric, status=status, value=value, threshold=0.8, reason=reason)  # type: ignore[arg-type]


def case(name: str, status: str, *scores: CaseScore) -> CaseResult:
    return CaseResult(case=name, trace=f"t-{name}", status=status, scores=scores)  # type: ignore[arg-type]


def sarif_log(run: Run) -> dict[str, Any]:
    inputs = ReportInputs(run, load_case_lines=lambda: CASE_LINES)
    log = json.loads("".join(format_run_sarif(inputs)))
    validator: Any = Draft202012Validator(_ESSENTIALS)
    validator.validate(log)
    return log["runs"][0]


def test_failed_cases_are_annotated_at_their_lines(make_run: MakeRun):
    (result,) = sarif_log(make_run(case("late", "failed", score())))["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "gold.json"}, "region": {"startLine": 12}}
    assert result["message"]["text"] == "late: m 0.25, threshold 0.8: missing lookup()"
    assert result["level"] == "error"


def test_each_metric_is_a_rule_and_each_failure_a_result(make_run: MakeRun):
    log = sarif_log(
        make_run(case("late", "failed", score("a"), score("b", "passed"), score("c", "unscored")))
    )
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    assert rules == ["a", "b", "c"]
    assert [rules[result["ruleIndex"]] for result in log["results"]] == ["a"]


def test_unscored_case_is_a_warning(make_run: MakeRun):
    run = make_run(case("odd", "unscored", score(status="unscored", reason="no tools expected")))
    (result,) = sarif_log(run)["results"]
    assert (result["ruleId"], result["level"]) == ("unscored", "warning")
    assert result["message"]["text"] == "odd: not scored: no tools expected"


def test_failed_profile_is_a_rule(make_run: MakeRun):
    judgement = ProfileVerdict(
        profile="strict", composite=3.1, passed=False, reason="Composite=3.10"
    )
    judged = CaseResult(case="late", trace="t", status="failed", judgement=judgement)
    (result,) = sarif_log(make_run(judged))["results"]
    assert (result["ruleId"], result["message"]["text"]) == (
        "profile/strict",
        "late: Composite=3.10",
    )


def test_passed_cases_have_no_result(make_run: MakeRun):
    assert sarif_log(make_run(case("late", "passed")))["results"] == []


def test_removed_case_is_annotated_at_the_start_of_the_file(make_run: MakeRun):
    (result,) = sarif_log(make_run(case("gone", "failed", score())))["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_text_of_agents_becomes_no_link(make_run: MakeRun):
    run = make_run(case("late", "failed", score(reason="see [here](https://evil.example)\x1b")))
    assert "[here] (https://evil.example)\\x1b" in sarif_log(run)["results"][0]["message"]["text"]


def test_sarif_without_golden_data_is_an_error(make_run: MakeRun):
    with pytest.raises(UsageError, match="SARIF needs the golden data"):
        "".join(format_run_sarif(ReportInputs(make_run(case("late", "failed", score())))))
