from __future__ import annotations

from pathlib import Path

from carob.api import datasets
from carob.datasets.duplicate_keys import doubled


def places(text: str) -> list[str]:
    return [problem.where for problem in doubled(text.encode())]


def test_keys_that_are_there_twice_are_found_at_every_depth():
    assert places('{"a": 1, "a": 2}') == ["$.a"]
    assert places('{"l": [0, [{"a": {"b": "x", "b": {"c": 1, "c": 1.5}}}]]}') == [
        "$.l[1][0].a.b",
        "$.l[1][0].a.b.c",
    ]
    assert places('[{"a": [{"a": null}]}, "a", {}]') == []


def test_numbers_of_any_length_and_any_depth_do_no_harm():
    assert places('{"n": ' + "9" * 5000 + "}") == []
    assert places("[" * 100_000 + "]" * 100_000) == []


def test_a_key_that_is_there_twice_is_an_error_of_the_file(tmp_path: Path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"case_id": "a", "question": "q"}\n{"case_id": "b", "question": "q", "question": "r"}\n'
    )
    document = tmp_path / "shop_golden.json"
    document.write_text('{"golden_questions": [], "golden_questions": []}')
    for file, where in ((rows, "line 2 $.question"), (document, "line 1 $.golden_questions")):
        (found,) = datasets.validate([file])
        errors = [one.where for one in found.problems if "twice" in one.message]
        assert (found.valid, errors) == (False, [where])
