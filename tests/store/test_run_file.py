from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from carob.errors import InputError
from carob.report import format_json
from carob.store.document import parse_document
from carob.store.run_file import read_run_file, split_run_file
from tests.store.conftest import MakeRun


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carob.store.run_file._LARGE", 0)


def test_large_file_is_read_like_a_small_one(tmp_path: Path, make_run: MakeRun):
    path = tmp_path / "run.json"
    for run in (make_run(1.0, 0.5, None), make_run(1.0)):
        path.write_text(format_json(run))
        parts = split_run_file(path)
        assert parts is not None
        expected = parse_document(path.read_bytes(), str(path))
        assert (parts.head, [*parts.bodies]) == (expected.head, [*expected.bodies])
        assert read_run_file(path).run == run


@pytest.mark.parametrize("indent", [-1, 0, 4])
def test_file_with_other_line_breaks_is_read_as_a_whole(
    tmp_path: Path, make_run: MakeRun, indent: int
):
    path, run = tmp_path / "run.json", make_run(1.0, 0.5)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=indent))
    assert split_run_file(path) is None
    assert read_run_file(path).run == run


def test_edited_case_of_a_large_file_is_an_error(tmp_path: Path, make_run: MakeRun):
    path = tmp_path / "run.json"
    path.write_text(format_json(make_run(1.0, 0.5)).replace('"value": 0.5', '"value": 0.9'))
    with pytest.raises(InputError, match="but the content has the id"):
        read_run_file(path)


def test_truncated_or_repeated_list_of_a_large_file_is_an_error(tmp_path: Path, make_run: MakeRun):
    path, text = tmp_path / "run.json", format_json(make_run(1.0, 0.5))
    path.write_text(text[: len(text) // 2])
    with pytest.raises(InputError, match="not a run"):
        read_run_file(path)
    path.write_text(text.replace('  "unmatched"', '  "cases": [],\n  "unmatched"'))
    with pytest.raises(InputError):
        read_run_file(path)


@pytest.mark.parametrize("field", [b'"\xe7": 1', b'"x": "\xe7"'])
def test_bytes_that_are_not_utf8_in_an_unknown_field_are_an_error(
    tmp_path: Path, make_run: MakeRun, field: bytes
):
    path, text = tmp_path / "run.json", format_json(make_run(1.0)).encode()
    for place in (b'  "cases"', b'      "case"'):
        path.write_bytes(text.replace(place, b"  " + field + b",\n" + place, 1))
        with pytest.raises(InputError, match="not a run"):
            read_run_file(path)


def test_reading_reports_the_cases_and_ends_with_their_number(
    tmp_path: Path, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carob.store.run_file._REPORTED", 1)
    path, steps = tmp_path / "run.json", list[tuple[int, int]]()
    path.write_text(format_json(make_run(1.0, 0.5, 0.25, 1.0)))
    read_run_file(path, lambda done, total: steps.append((done, total)))
    assert [done for done, _ in steps] == [1, 2, 3, 4]
    assert all(done <= total for done, total in steps)
