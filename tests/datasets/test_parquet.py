"""Parquet files are read as rows of golden data."""

from __future__ import annotations

import io
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from carob.api.datasets import convert, validate
from carob.api.load import load
from carob.errors import UsageError

ROWS = [
    {"question": "Do you repair e-bikes?", "answer": "Yes, all brands.", "tags": ["workshop"]},
    {"question": "When do you open?", "answer": "At nine.", "tags": ["shop", "hours"]},
]


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    arrow: Any = import_module("arro3.io")
    data = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    schema = arrow.infer_json_schema(data)
    data.seek(0)
    arrow.write_parquet(arrow.read_json(data, schema), str(path))
    return path


def test_rows_of_a_parquet_file_are_cases(tmp_path: Path):
    dataset = load(write_parquet(tmp_path / "faq.parquet", ROWS))
    assert dataset.name == "faq"
    assert [(case.turns[0].user, case.turns[0].response) for case in dataset] == [
        ("Do you repair e-bikes?", "Yes, all brands."),
        ("When do you open?", "At nine."),
    ]
    assert [case.tags for case in dataset] == [("workshop",), ("shop", "hours")]


def test_problem_names_the_row(tmp_path: Path):
    rows: list[dict[str, Any]] = [*ROWS, {"question": None, "answer": "Nobody asked.", "tags": []}]
    (result,) = validate(write_parquet(tmp_path / "faq.parquet", rows))
    errors = [problem for problem in result.problems if problem.severity == "error"]
    assert [problem.where.split()[:2] for problem in errors] == [["line", "3"]]


def test_parquet_is_converted_but_not_written(tmp_path: Path):
    path = write_parquet(tmp_path / "faq.parquet", ROWS)
    convert(path, tmp_path / "faq.jsonl", to="rows")
    assert len(load(tmp_path / "faq.jsonl")) == 2
    with pytest.raises(UsageError, match="cannot write the Parquet file"):
        convert(path, tmp_path / "new.parquet", to="rows")
