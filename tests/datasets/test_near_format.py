"""Tests for the format that a file nearly has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import open_golden
from carob.errors import UnknownFormatError


@pytest.mark.parametrize(
    ("document", "difference"),
    [
        ([{"qestion": "When do you open?"}], "rows: rename `qestion` to `question`"),
        (
            {"cases": [{"qestion": "When do you open?"}]},
            "rows: rename `qestion` in `cases` to `question`",
        ),
        (
            {"eval_case": [{"eval_case_id": "a", "prompt": "Hi"}]},
            "agents-cli: rename `eval_case` to `eval_cases`",
        ),
        ({"skill_name": "invoices"}, "skill-evals: it has `skill_name`, but not `evals`"),
        ({"eval_set_id": "support"}, "adk: it has `eval_set_id`, but not `eval_cases`"),
        (
            [{"outputs": {"answer": "At 9"}, "inptus": {"q": "When?"}}],
            "langsmith: rename `inptus` to `inputs`",
        ),
    ],
)
def test_hint_names_the_format_and_the_difference(
    document: object, difference: str, formats: list[Format], tmp_path: Path
):
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UnknownFormatError) as caught:
        open_golden(path, formats)
    assert caught.value.hint
    assert caught.value.hint.endswith(f"this is nearly the format {difference}")


def test_file_far_from_every_format_gets_the_names_of_the_formats(
    formats: list[Format], tmp_path: Path
):
    path = tmp_path / "invoices.json"
    path.write_text(json.dumps({"invoices": [{"vendor": "Chain & Co", "total": 25}]}))
    with pytest.raises(UnknownFormatError) as caught:
        open_golden(path, formats)
    assert caught.value.hint
    assert "name the fields of plain rows with --map input=NAME" in caught.value.hint
    assert "\n" not in caught.value.hint


@pytest.mark.parametrize(
    ("case", "form", "key"),
    [
        ({"id": "q", "user_inputs": ["Hi"], "reference_data": {}}, "questions", "golden_questions"),
        ({"eval_id": "e", "conversation": []}, "adk", "eval_cases"),
        (
            {"eval_case_id": "e", "prompt": {"role": "user", "parts": [{"text": "Hi"}]}},
            "agents-cli",
            "eval_cases",
        ),
        (
            {"query": "Hi", "query_by": {}, "reference_answer": "x", "reference_contexts": []},
            "llama-index",
            "examples",
        ),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_cases_without_their_document_are_named(
    case: object, form: str, key: str, suffix: str, tmp_path: Path, formats: list[Format]
):
    path = tmp_path / f"cases{suffix}"
    lines = [json.dumps(case), json.dumps(case)]
    path.write_text("\n".join(lines) if suffix == ".jsonl" else f"[{','.join(lines)}]")
    with pytest.raises(UnknownFormatError) as caught:
        open_golden(path, formats)
    expected = f"these are cases of the format {form}: list them under `{key}`"
    assert expected in str(caught.value.hint)


def test_keys_of_listed_objects_are_named(tmp_path: Path, formats: list[Format]):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"cases": [{"mail_body": "Hi", "owner": "Mara"}]}))
    with pytest.raises(UnknownFormatError) as caught:
        open_golden(path, formats)
    expected = "found the keys `cases`, and in `cases` `mail_body`, `owner`; "
    assert str(caught.value.hint).startswith(expected)


def test_an_expected_answer_is_not_nearly_a_column_of_promptfoo(
    formats: list[Format], tmp_path: Path
):
    path = tmp_path / "golden.jsonl"
    path.write_text('{"messages": [{"from_me": false, "text": "Dinner?"}], "expected": "no"}\n')
    with pytest.raises(UnknownFormatError) as caught:
        open_golden(path, formats)
    assert "nearly" not in (caught.value.hint or "")
