"""Tests for promptfoo: configs, files of tests and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from carob.datasets.formats import Format
from carob.datasets.formats.promptfoo_assertions import parse_expected, read_checks, split_list
from carob.datasets.read import get_format, read_dataset
from carob.datasets.validate import validate
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset
from carob.errors import FormatError
from carob.schema import Case, Dataset, Problem, ToolCall, Validation


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "promptfooconfig.json"


def read(file: Path, formats: list[Format], *tests: Any) -> list[Case]:
    config = {"prompts": ["{{question}}"], "providers": ["echo"], "tests": list(tests)}
    file.write_text(json.dumps(config))
    return list(read_dataset(file, formats).cases)


def test_variables_are_filled_into_assertions(file: Path, formats: list[Format]):
    test = {
        "vars": {"question": "When do you open?", "hour": 9},
        "assert": [{"type": "contains", "value": "at {{ hour }}"}],
    }
    (case,) = read(file, formats, test)
    assert case.contains == ("at 9",)


def test_template_with_logic_is_not_an_expectation():
    checks = read_checks([{"type": "contains", "value": "{% if x %}a{% endif %}"}], {"x": "1"})
    assert checks.contains == ()
    assert checks.unread == ("contains",)


def test_second_answer_is_named_and_not_dropped_silently():
    answers: list[Any] = [{"type": "equals", "value": "9"}, {"type": "similar", "value": "At nine"}]
    checks = read_checks(answers, {})
    assert (checks.answer, checks.unread) == ("9", ("similar",))


def test_members_of_a_set_count_only_if_all_must_hold():
    members: list[Any] = [
        {"type": "contains", "value": "bike"},
        {"type": "python", "value": "True"},
    ]
    checks = read_checks([{"type": "assert-set", "assert": members}], {})
    assert (checks.contains, checks.unread) == (("bike",), ("python",))
    checks = read_checks([{"type": "assert-set", "threshold": 0.5, "assert": members}], {})
    assert (checks.contains, checks.unread) == ((), ("assert-set",))


@pytest.mark.parametrize(
    ("value", "calls"),
    [
        ("opening_hours", (ToolCall(name="opening_hours"),)),
        (["a", "b"], (ToolCall(name="a"), ToolCall(name="b"))),
        ({"name": "a", "max": 0}, ()),
        ({"pattern": "get_*"}, ()),
    ],
)
def test_tool_uses_with_counts_or_patterns_are_not_calls(value: Any, calls: tuple[ToolCall, ...]):
    checks = read_checks([{"type": "trajectory:tool-used", "value": value}], {})
    assert checks.calls == calls
    others = () if calls else ({"type": "trajectory:tool-used", "value": value},)
    assert checks.others == others


@pytest.mark.parametrize(
    ("cell", "assertion"),
    [
        ("Paris", {"type": "equals", "value": "Paris"}),
        ("note: bring cash", {"type": "equals", "value": "note: bring cash"}),
        ("contains: used", {"type": "contains", "value": "used"}),
        ("not-contains: used", {"type": "not-contains", "value": "used"}),
        ("similar(0.9): At 9", {"type": "similar", "value": "At 9", "threshold": 0.9}),
        ("grade: is polite", {"type": "llm-rubric", "value": "is polite"}),
        ("fn: output.length", {"type": "javascript", "value": "output.length"}),
        ("is-json", {"type": "is-json", "value": None}),
        ('contains-all: a, "b, c"', {"type": "contains-all", "value": ["a", "b, c"]}),
    ],
)
def test_cells_are_assertions(cell: str, assertion: dict[str, Any]):
    assert parse_expected(cell) == assertion


def test_quotes_in_a_list_are_escaped_in_two_ways():
    assert split_list(r'"say \"hi\"", "say ""no"""') == ['say "hi"', 'say "no"']


def check(file: Path, formats: list[Format], document: object) -> tuple[Validation, list[Problem]]:
    file.write_text(json.dumps(document))
    result = validate(file, formats)
    return result, [problem for problem in result.problems if problem.severity != "note"]


def test_tests_in_another_file_are_an_error_that_names_the_file(file: Path, formats: list[Format]):
    for tests in ("file://tests.csv", ["file://tests.csv"]):
        config = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests}
        result, (problem,) = check(file, formats, config)
        assert result.format == "promptfoo"
        assert problem.message == "tests in another file are not read: 'file://tests.csv'"
        assert problem.hint == "pass tests.csv itself"
        with pytest.raises(FormatError, match="tests in another file"):
            read_dataset(file, formats)


def test_config_without_tests_says_what_generates_them(file: Path, formats: list[Format]):
    config = {"targets": ["openai:gpt-5"], "redteam": {"plugins": ["pii"]}}
    result, (problem,) = check(file, formats, config)
    assert (result.format, result.valid) == ("promptfoo", False)
    assert problem.message == "no tests in this promptfoo configuration"
    assert problem.hint == "the attacks that `redteam` generates are not read"


def test_message_in_a_variable_of_an_unusual_name_is_a_warning(file: Path, formats: list[Format]):
    test = {"vars": {"language": "French", "body": "How much is a new chain?"}}
    (case,) = read(file, formats, test)
    assert case.turns[0].user == "How much is a new chain?"
    (problem,) = validate(file, formats).problems
    assert problem.message == "no variable is called like a user message; read 'body' as such"


def test_variables_and_assertions_in_other_files_do_not_crash(file: Path, formats: list[Format]):
    tests = [{"vars": "vars.yaml", "assert": "file://asserts.yaml"}, {"vars": {"q": ["a", "b"]}}]
    config = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests}
    result, problems = check(file, formats, config)
    assert result.valid
    assert [problem.hint for problem in problems if problem.message == "missing user message"] == [
        "variables in another file are not read",
        "promptfoo makes a test of each value in a list: write them as tests",
    ]


CONFIG: dict[str, Any] = {
    "prompts": ["You work for {{shop}}. {{question}}"],
    "providers": ["echo"],
    "defaultTest": {
        "vars": {"shop": "Mara's"},
        "metadata": {"team": "support"},
        "assert": [
            {"type": "not-icontains", "value": "sorry"},
            {"type": "llm-rubric", "value": "Polite"},
            {"type": "contains", "value": "{{shop}}"},
            {"type": "similar", "value": "Yes, {{shop}} is open."},
        ],
    },
    "tests": [
        {"vars": {"question": "Open?"}, "assert": [{"type": "icontains", "value": "yes"}]},
        {"vars": {"question": "Open?", "shop": "Tom's"}, "options": {"prefix": "Hi. "}},
    ],
}


def test_defaults_and_prompts_concern_every_test(file: Path, formats: list[Format]):
    file.write_text(json.dumps(CONFIG))
    first, second = read_dataset(file, formats).cases
    assert first.turns[0].user == "You work for Mara's. Open?"
    assert second.turns[0].user == "Hi. You work for Tom's. Open?"
    assert (first.contains, second.contains) == (("Mara's",), ("Tom's",))
    assert [rubric.text for rubric in second.rubrics] == ["Polite"]
    assert first.metadata["team"] == "support"
    assert first.reference["assertions"] == [
        {"type": "not-icontains", "value": "sorry"},
        {"type": "icontains", "value": "yes"},
    ]


@pytest.mark.parametrize("target", ["adk", "examples", "questions", "promptfoo", "rows", "csv"])
def test_defaults_survive_every_conversion_and_back(
    target: str, file: Path, tmp_path: Path, formats: list[Format]
):
    file.write_text(json.dumps(CONFIG))
    converted = tmp_path / ("other.csv" if target == "csv" else "other.json")
    write(read_dataset(file, formats), converted, target, formats)
    back = tmp_path / "back.json"
    write(read_dataset(converted, formats, target), back, "promptfoo", formats)
    assert json.loads(back.read_text()) == CONFIG


def write(dataset: Dataset, path: Path, name: str, formats: list[Format]) -> None:
    form = get_format(name, formats)
    write_dataset(prepare_dataset(dataset, choose_destination(path, form, dataset), formats))


def test_tests_alone_state_what_the_configuration_did(
    file: Path, tmp_path: Path, formats: list[Format]
):
    file.write_text(json.dumps(CONFIG))
    before = read_dataset(file, formats)
    rows = tmp_path / "tests.jsonl"
    write(before, rows, "promptfoo", formats)
    after = read_dataset(rows, formats)
    for one, other in zip(before.cases, after.cases, strict=True):
        assert one.turns[0].user == other.turns[0].user
        assert (one.contains, one.reference) == (other.contains, other.reference)


def test_changed_test_is_written_without_the_defaults(file: Path, formats: list[Format]):
    file.write_text(json.dumps(CONFIG))
    dataset = read_dataset(file, formats)
    case = dataset.cases[0]
    changed = replace(case, reference={**case.reference, "assertions": [*_assertions(case), YES]})
    write(dataset.with_cases([changed]), file, "promptfoo", formats)
    (test,) = json.loads(file.read_text())["tests"]
    assert [item["value"] for item in test["assert"]] == ["yes", "Yes"]
    assert test["vars"] == {"question": "Open?"}


YES: dict[str, Any] = {"type": "starts-with", "value": "Yes"}


def _assertions(case: Case) -> list[Any]:
    return cast("list[Any]", case.reference["assertions"])


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("{{q}}", "Open?"),
        ({"label": "a", "raw": "Say: {{ q }}"}, "Say: Open?"),
        (
            '[{"role": "system", "content": "Be kind"}, {"role": "user", "content": "{{q}}!"}]',
            "Open?!",
        ),
        ("file://prompt.txt", "Open?"),
        ("prompts/{{q}}.txt", "Open?"),
        ("{% if q %}{{q}}{% endif %}", "Open?"),
        ("{{ q | upper }}", "Open?"),
        ("{{q}} in {{language}}", "Open? in "),
    ],
)
def test_prompt_is_rendered_if_variables_are_all_it_needs(
    prompt: Any, message: str, file: Path, formats: list[Format]
):
    config = {"prompts": [prompt], "providers": ["echo"], "tests": [{"vars": {"q": "Open?"}}]}
    file.write_text(json.dumps(config))
    assert read_dataset(file, formats).cases[0].turns[0].user == message


def test_what_a_configuration_states_and_carob_does_not_evaluate_is_named(
    file: Path, formats: list[Format]
):
    tests = [{"vars": {"q": "Open?"}, "threshold": 0.5, "assert": [YES, {**YES, "weight": 0}]}]
    default = {"assert": [{"type": "javascript", "value": "true"}]}
    prompts = ["{{q}}", "Please: {{q}}"]
    config = {"prompts": prompts, "providers": ["echo"], "defaultTest": default, "tests": tests}
    _, problems = check(file, formats, config)
    assert {(problem.where.split()[-1], problem.message) for problem in problems} == {
        ("$.prompts", "2 prompts; user messages are those of the first"),
        (
            "$.defaultTest.assert",
            "assertions not evaluated, kept for round-tripping: 'javascript'",
        ),
        (
            "$.tests[0].assert",
            "assertions not evaluated, kept for round-tripping: 'starts-with of weight 0'",
        ),
        (
            "$.tests[0].threshold",
            "'threshold' of a test is not evaluated: every assertion must hold",
        ),
    }


def test_threshold_of_a_column_belongs_to_its_assertion(tmp_path: Path, formats: list[Format]):
    table = tmp_path / "tests.csv"
    table.write_text(
        "q,__expected1,__config:__expected1:threshold,__expected2\n"
        'Open?,levenshtein: Yes,1,"icontains-any: ""yes, we do"", si"\n'
    )
    (case,) = read_dataset(table, formats).cases
    assert case.reference["assertions"] == [
        {"type": "levenshtein", "value": "Yes", "threshold": 1.0},
        {"type": "icontains-any", "value": ["yes, we do", "si"]},
    ]


def test_prompt_without_variables_is_the_message_of_every_test(file: Path, formats: list[Format]):
    tests = [{"assert": [YES]}, {"description": "again", "assert": [{**YES, "value": "No"}]}]
    config = {"prompts": ["Do you sell tyres?"], "providers": ["echo"], "tests": tests}
    result, problems = check(file, formats, config)
    assert (result.valid, problems) == (True, [])
    users = [case.turns[0].user for case in read_dataset(file, formats).cases]
    assert users == ["Do you sell tyres?"] * 2


def test_written_tests_without_variables_are_recognized(
    file: Path, tmp_path: Path, formats: list[Format]
):
    config = {"prompts": ["file://p.txt"], "providers": ["echo"], "tests": [{"assert": [YES]}]}
    file.write_text(json.dumps(config))
    rows = tmp_path / "tests.jsonl"
    write(read_dataset(file, formats), rows, "promptfoo", formats)
    assert validate(rows, formats).format == "promptfoo"
