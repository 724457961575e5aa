from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import read_dataset
from carob.errors import FormatError, InputError, UnknownFormatError


def write_json(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def test_invalid_case_is_located_by_file_line_and_path(tmp_path: Path, formats: list[Format]):
    path = write_json(
        tmp_path / "a.json", {"name": "x", "examples": [{"input": "a"}, {"input": 3}]}
    )
    with pytest.raises(FormatError) as raised:
        read_dataset(path, formats)
    assert raised.value.where == f"{path} line 8 $.examples[1].input"
    assert raised.value.hint == "run `carob validate` to list every problem in the file"


def test_error_for_an_unknown_file_lists_the_formats(tmp_path: Path, formats: list[Format]):
    with pytest.raises(UnknownFormatError) as raised:
        read_dataset(write_json(tmp_path / "a.json", {"what": 1}), formats)
    assert all(form.name in str(raised.value.hint) for form in formats)


def test_same_text_twice_gets_two_ids(tmp_path: Path, formats: list[Format]):
    path = write_json(tmp_path / "a.csv", "Input,ExpectedOutput\nx,y\nx,z\n")
    first, second = (case.id for case in read_dataset(path, formats).cases)
    assert second == f"{first}-2"


def test_invalid_row_stops_reading_with_its_line(tmp_path: Path, formats: list[Format]):
    path = write_json(tmp_path / "a.jsonl", '{"case_id": "a-001", "question": "x"}\n{\n')
    with pytest.raises(InputError, match="line 2 column 2"):
        read_dataset(path, formats)


def test_table_that_lacks_one_column_names_it(tmp_path: Path, formats: list[Format]):
    path = write_json(tmp_path / "a.csv", "ExpectedOutput,Notes\nx,y\n")
    with pytest.raises(UnknownFormatError) as caught:
        read_dataset(path, formats)
    assert caught.value.message == "missing column 'Input' of the format csv"
    hint = "found the columns `ExpectedOutput`, `Notes`; add it, or rename one of these"
    assert caught.value.hint == hint
