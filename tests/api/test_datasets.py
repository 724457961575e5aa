from __future__ import annotations

from pathlib import Path

from carob.api.datasets import case_lines


def test_cases_of_a_document_are_where_their_objects_start(tmp_path: Path):
    path = tmp_path / "gold.json"
    path.write_text(
        '{"golden_questions": [\n'
        '  {"id": "a", "user_inputs": ["Hi"], "agents_evaluated": [], "reference_data": {}},\n'
        "\n"
        '  {\n    "id": "b", "user_inputs": ["Ho"], "agents_evaluated": [], "reference_data": {}}\n'
        "]}\n",
        "utf-8",
    )
    assert case_lines(path) == {"a": (str(path), 2), "b": (str(path), 4)}


def test_cases_of_a_table_are_where_their_rows_start(tmp_path: Path):
    path = tmp_path / "gold.csv"
    path.write_text('Input,ExpectedOutput\n"two\nlines",x\nHo,y\n', "utf-8")
    assert [line for _, line in case_lines(path).values()] == [2, 4]


def test_cases_of_json_lines_are_in_their_lines(tmp_path: Path):
    path = tmp_path / "gold.jsonl"
    row = '{{"case_id": "{0}", "question": "Hi", "reference_answer": "x", "model_answer": "x"}}\n'
    path.write_text(row.format("a") + "\n" + row.format("b"), "utf-8")
    assert case_lines(path) == {"a": (str(path), 1), "b": (str(path), 3)}
