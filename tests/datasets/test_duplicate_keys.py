from __future__ import annotations

from pathlib import Path

from carob.api import datasets
from carob.datasets.duplicate_keys import find_duplicate_keys


def paths(text: str) -> list[str]:
    return [problem.where for problem in find_duplicate_keys(text.encode())]


def test_duplicate_keys_are_found_at_every_depth():
    assert paths('{"a": 1, "a": 2}') == ["$.a"]
    assert paths('{"l": [0, [{"a": {"b": "x", "b": {"c": 1, "c": 1.5}}}]]}') == [
        "$.l[1][0].a.b",
        "$.l[1][0].a.b.c",
    ]
    assert paths('[{"a": [{"a": null}]}, "a", {}]') == []


def test_long_numbers_and_deep_nesting_are_harmless():
    assert paths('{"n": ' + "9" * 5000 + "}") == []
    assert paths("[" * 100_000 + "]" * 100_000) == []


def test_duplicate_key_makes_a_file_invalid(tmp_path: Path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"case_id": "a", "question": "q"}\n{"case_id": "b", "question": "q", "question": "r"}\n'
    )
    document = tmp_path / "shop_golden.json"
    document.write_text('{"golden_questions": [], "golden_questions": []}')
    for file, where in ((rows, "line 2 $.question"), (document, "line 1 $.golden_questions")):
        (result,) = datasets.validate([file])
        errors = [problem.where for problem in result.problems if "duplicate" in problem.message]
        assert (result.valid, errors) == (False, [where])
