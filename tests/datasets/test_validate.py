from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.datasets import validate as module
from carob.datasets.formats import Format
from carob.datasets.validate import validate
from carob.errors import InputError, UsageError
from carob.schema import Problem, Validation


def question(**more: Any) -> dict[str, Any]:
    base = {"id": "a", "user_inputs": ["x"], "agents_evaluated": ["shop"]}
    return {**base, "reference_data": {"reference_trajectory": ["shop"]}, **more}


def explain(number: int, **more: Any) -> str:
    return json.dumps({"case_id": f"a-{number:03}", "question": "x", **more})


def errors(result: Validation) -> list[Problem]:
    return [problem for problem in result.problems if problem.severity == "error"]


def write_json(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def test_all_problems_are_listed_with_line_path_and_hint(tmp_path: Path, formats: list[Format]):
    items = [question(user_inputs="x"), question(id=3, agents_evalated=[])]
    del items[1]["agents_evaluated"]
    result = validate(write_json(tmp_path / "a_golden.json", {"golden_questions": items}), formats)
    assert [(problem.where, problem.message, problem.hint) for problem in result.problems] == [
        (
            "line 5 $.golden_questions[0].user_inputs",
            "expected a list, got the string 'x'",
            "wrap it in a list",
        ),
        (
            "line 15 $.golden_questions[1]",
            "missing field 'agents_evaluated'",
            "add 'agents_evaluated': a list",
        ),
        (
            "line 16 $.golden_questions[1].id",
            "expected a string, got the number 3",
            "add quotes",
        ),
        (
            "line 25 $.golden_questions[1].agents_evalated",
            "unknown field 'agents_evalated'",
            "did you mean 'agents_evaluated'?",
        ),
    ]


def test_duplicate_id_names_the_line_of_its_first_use(tmp_path: Path, formats: list[Format]):
    rows = [explain(1), explain(2), explain(1)]
    result = validate(write_json(tmp_path / "a.jsonl", "\n".join(rows)), formats)
    assert [(problem.where, problem.message) for problem in errors(result)] == [
        ("line 3 $.case_id", "duplicate id 'a-001', first used on line 1")
    ]


def test_stated_id_that_would_be_numbered_is_a_warning(tmp_path: Path, formats: list[Format]):
    """A trace that names the case would belong to the first of them without a word."""
    (file := tmp_path / "faq.csv").write_text("id,Input,ExpectedOutput\na,Hi,Hello\na,Ho,Hello\n")
    result = validate(file, formats=formats)
    assert [(p.where, p.message, p.severity) for p in result.problems] == [
        ("line 3 $.id", "duplicate id 'a', first used on line 2", "warning")
    ]
    file.write_text("Input,ExpectedOutput\nHi,Hello\nHi,Hello\n")
    assert validate(file, formats=formats).problems == ()


def test_rows_after_a_broken_one_are_still_checked(tmp_path: Path, formats: list[Format]):
    rows = [explain(1), "{", explain(2, phase="prepration")]
    result = validate(write_json(tmp_path / "a.jsonl", "\n".join(rows)), formats)
    assert result.cases == 3
    assert [problem.where for problem in errors(result)] == ["line 2 column 2", "line 3 $.phase"]
    assert errors(result)[1].hint == "did you mean 'preparation'?"


def test_unknown_agents_are_errors_if_the_agents_are_specified(
    tmp_path: Path, formats: list[Format]
):
    path = write_json(tmp_path / "a.json", {"golden_questions": [question()]})
    assert validate(path, formats).valid
    (problem,) = errors(validate(path, formats, agents=["shopp"]))
    assert problem.where == "line 9 $.golden_questions[0].agents_evaluated[0]"
    assert problem.hint == "did you mean 'shopp'?"


@pytest.mark.parametrize("specified", [True, False], ids=["specified", "next to the file"])
def test_scenarios_are_looked_up_in_the_catalogue(
    specified: bool, tmp_path: Path, formats: list[Format]
):
    folder = tmp_path / "elsewhere" if specified else tmp_path
    folder.mkdir(exist_ok=True)
    catalogue = write_json(folder / "scenarios.csv", "scenario_id,topic_family\nS-1,AZ-900\n")
    rows = [explain(1, scenario_id="S-1"), explain(2, scenario_id="S-2")]
    path = write_json(tmp_path / "a.jsonl", "\n".join(rows))
    result = validate(path, formats, catalogue=catalogue if specified else None)
    assert [(problem.where, problem.message) for problem in errors(result)] == [
        ("line 2 $.scenario_id", "scenario 'S-2' not found in scenarios.csv")
    ]


def test_catalogue_without_scenarios_is_an_error(tmp_path: Path, formats: list[Format]):
    path = write_json(tmp_path / "a.jsonl", explain(1))
    with pytest.raises(InputError, match="no scenarios"):
        validate(path, formats, catalogue=write_json(tmp_path / "other.json", [{"a": 1}]))


def test_file_that_no_format_claims_is_one_problem(tmp_path: Path, formats: list[Format]):
    result = validate(write_json(tmp_path / "a.json", {"what": 1}), formats)
    assert (result.format, result.valid, len(result.problems)) == (None, False, 1)
    assert "`what`" in (result.problems[0].hint or "")


def test_misspelled_format_is_a_usage_error(tmp_path: Path, formats: list[Format]):
    with pytest.raises(UsageError):
        validate(write_json(tmp_path / "a.json", {}), formats, name="addk")


def test_problems_are_listed_up_to_a_limit(
    tmp_path: Path, formats: list[Format], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "LISTED_PROBLEMS", 2)
    result = validate(
        write_json(tmp_path / "a.csv", "Input,ExpectedOutput\n" + "x,\n" * 5), formats
    )
    assert [problem.message for problem in result.problems[2:]] == ["3 more problems not listed"]
    assert result.problems[2].severity == "note"


def test_unknown_column_is_reported_once(tmp_path: Path, formats: list[Format]):
    result = validate(
        write_json(tmp_path / "a.csv", "Input,ExpectedOutput,Tag\nx,y,z\nx,y,z\n"), formats
    )
    assert [(problem.where, problem.hint) for problem in result.problems] == [
        ("line 1 $.Tag", "did you mean 'Tags'?")
    ]


def test_invalid_sidecar_file_is_a_problem(tmp_path: Path, formats: list[Format]):
    path = write_json(tmp_path / "a.csv", "Input,ExpectedOutput\nx,y\n")
    write_json(tmp_path / "a.csv.carob.json", "{")
    assert not validate(path, formats).valid


def test_validation_stops_after_many_errors_but_never_after_warnings(
    tmp_path: Path, formats: list[Format], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "LISTED_PROBLEMS", 1)
    monkeypatch.setattr(module, "MAX_ERRORS", 2)
    broken = validate(
        write_json(tmp_path / "a.csv", "Input,ExpectedOutput\n" + "x,\n" * 5), formats
    )
    assert broken.cases == 2
    assert "stopped after 2 cases" in broken.problems[-1].message
    rows = [explain(number) for number in range(5)] + ["{"]
    assert not validate(write_json(tmp_path / "b.jsonl", "\n".join(rows)), formats).valid


def test_duplicate_id_is_reported_even_if_one_of_the_cases_is_invalid(
    tmp_path: Path, formats: list[Format]
):
    items = [question(), question(user_inputs="x")]
    result = validate(write_json(tmp_path / "a_golden.json", {"golden_questions": items}), formats)
    assert [problem.message for problem in errors(result)] == [
        "duplicate id 'a', first used on line 3",
        "expected a list, got the string 'x'",
    ]


def test_unknown_profiles_are_errors_if_the_profiles_are_known(
    tmp_path: Path, formats: list[Format]
):
    path = write_json(tmp_path / "a.jsonl", explain(1, threshold_profile="strct") + "\n")
    assert not errors(validate(path, formats))
    (problem,) = errors(validate(path, formats, profiles={"strict"}))
    assert problem.where == "line 1 $.threshold_profile"
    assert problem.message == "unknown profile 'strct'"
    assert problem.hint == "did you mean 'strict'?"
