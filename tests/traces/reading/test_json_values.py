from __future__ import annotations

import gzip
import json
import os
import socket
from pathlib import Path

import pytest

from carob.errors import FormatError, InputError
from carob.schema import Json, Problem
from carob.schema.problem import ignore
from carob.traces.containers import otlp
from carob.traces.reading import json_values
from carob.traces.reading.json_values import is_divisible, read_lines, read_values


def read(path: Path, raw: bytes) -> tuple[list[Json | bytes], list[Problem]]:
    path.write_bytes(raw)
    problems: list[Problem] = []
    return list(read_values(path, report=problems.append)), problems


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": 1}\n{"a": 2}\n',
        b'{"a": 1}\r\n\r\n{"a": 2}',
        b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n',
        b'{\n  "a": 1\n}\n{\n  "a": 2\n}\n',
        b'{"a": 1}{"a": 2}',
        b'{"a": 1} {\n"a": 2}',
        gzip.compress(b'{"a": 1}\n{"a": 2}\n', mtime=0),
        '{"a": 1}\n{"a": 2}\n'.encode("utf-16"),
    ],
    ids=["lines", "crlf", "bom", "printed", "glued", "mixed", "gzip", "utf-16"],
)
def test_every_compression_gives_the_same_values(tmp_path: Path, raw: bytes):
    assert read(tmp_path / "f", raw) == ([{"a": 1}, {"a": 2}], [])


def test_array_is_one_value(tmp_path: Path):
    values, problems = read(tmp_path / "f", b'[\n{"a": 1},\n{"a": 2}\n]\n')
    assert (values, problems) == ([[{"a": 1}, {"a": 2}]], [])


def test_truncated_last_line_is_a_warning(tmp_path: Path):
    values, problems = read(tmp_path / "f", b'{"a": 1}\n{"a": 2}\n{"a": [3, "x')
    assert values == [{"a": 1}, {"a": 2}]
    assert [(p.message, p.severity) for p in problems] == [
        ("the file ends inside a JSON value", "warning")
    ]
    assert problems[0].where.endswith("f line 3")


def test_truncated_line_in_the_middle_loses_only_that_line(tmp_path: Path):
    values, problems = read(tmp_path / "f", b'{"a": 1}\n{"a": [2, \n{"a": 3}\n{"a": 4}\n')
    assert values == [{"a": 1}, {"a": 3}, {"a": 4}]
    assert [p.message for p in problems] == ["truncated JSON value"]


def test_truncated_array_gives_its_complete_lines(tmp_path: Path):
    values, problems = read(tmp_path / "f", b'[{"a": 1},\n{"a": 2},\n{"a": ')
    assert values == [{"a": 1}, {"a": 2}]
    assert len(problems) == 1


def test_text_between_the_values_is_skipped_and_reported(tmp_path: Path):
    values, problems = read(tmp_path / "f", b'starting up\n{\n "a": 1\n}\nbye\n')
    assert values == [{"a": 1}]
    assert [p.message for p in problems] == ["not JSON: 'starting up'", "not JSON: 'bye'"]


@pytest.mark.parametrize(
    ("raw", "value", "message"),
    [
        (b'{"a": NaN}', {"a": None}, "NaN is not JSON, read as null"),
        (b'{"a": -Infinity}', {"a": None}, "-Infinity is not JSON, read as null"),
        (b'{"a": 1e999}', {"a": None}, "a number is out of range, read as null"),
        (b'{"a": "\xff"}', {"a": "\ufffd"}, "invalid UTF-8, read as U+FFFD"),
        (b'{"a": "\\ud83d"}', {"a": "\ufffd"}, "half of a surrogate pair, read as U+FFFD"),
    ],
)
def test_near_json_is_repaired_and_reported(tmp_path: Path, raw: bytes, value: Json, message: str):
    values, problems = read(tmp_path / "f", raw)
    assert values == [value]
    assert [p.message for p in problems] == [message]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"hello\n", "not JSON: 'hello'"),
        (b'{"a": 1', "the file ends inside a JSON value"),
        (b'{"a" 1}', "broken JSON: Expecting ':' delimiter"),
        (b"[" * 100_000 + b"]" * 100_000, "JSON nested too deeply"),
        (b"PAR1\x00\x15", "truncated Parquet file"),
        (gzip.compress(b'{"a": 1}' * 99, mtime=0)[:-20], "damaged gzip data"),
        (b"\x1f\x8bnot gzip at all", "damaged gzip data"),
    ],
)
def test_unreadable_file_has_a_clear_error(tmp_path: Path, raw: bytes, message: str):
    with pytest.raises(InputError) as caught:
        read(tmp_path / "f", raw)
    assert message in caught.value.message
    assert caught.value.where is not None
    assert caught.value.where.startswith(str(tmp_path / "f"))


def test_broken_json_names_its_line_and_column(tmp_path: Path):
    with pytest.raises(FormatError) as caught:
        read(tmp_path / "f", b'{\n  "a": 1,\n  "b" 2\n}\n')
    assert caught.value.where == f"{tmp_path / 'f'} line 3 column 7"


def test_directory_socket_pipe_and_missing_file_are_errors(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
        for name in (".", "pipe", "socket", "nothing"):
            with pytest.raises(InputError):
                list(read_values(tmp_path / name, report=lambda problem: None))


def test_value_over_the_limit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_values, "MAX_VALUE", 10_000)
    large = json.dumps({"a": "x" * 20_000}).encode()
    for raw in (large, gzip.compress(large, mtime=0), b"{" + b"\n1" * 20_000):
        with pytest.raises(FormatError, match="a value of more than"):
            read(tmp_path / "f", raw)


def test_binary_file_is_returned_as_bytes(tmp_path: Path):
    assert read(tmp_path / "f", b"\n\x02\x12\x00") == ([b"\n\x02\x12\x00"], [])


def test_decoder_can_be_replaced(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes(b'{"resourceSpans": []}\n{"a": 1}\n')
    values = list(read_values(path, report=lambda problem: None, decode=otlp.decode))
    assert values == [otlp.Records(), {"a": 1}]


def test_json_string_that_mentions_columns_is_not_a_table(tmp_path: Path):
    inner = json.dumps({"note": "user_inputs", "user_inputs": ["a"]})
    assert read(tmp_path / "f", json.dumps(inner).encode()) == ([inner], [])


def test_table_gives_its_rows_with_null_for_empty_cells(tmp_path: Path):
    values, _ = read(tmp_path / "f", b'id,user_inputs,note\r\n1,"[""Hi""]",\r\n')
    assert values == [{"id": "1", "user_inputs": '["Hi"]', "note": None}]


@pytest.mark.parametrize(
    ("raw", "divisible"),
    [
        (b'{"a": 1}\n', True),
        (gzip.compress(b'{"a": 1}', mtime=0), False),
        ('{"a": 1}'.encode("utf-16"), False),
        (b"id,user_inputs\r\n1,[]\r\n", False),
        (b"\n\x02\x12\x00", False),
    ],
    ids=["lines", "gzip", "utf-16", "table", "protobuf"],
)
def test_only_json_text_can_be_read_from_any_line(tmp_path: Path, raw: bytes, divisible: bool):
    (tmp_path / "f").write_bytes(raw)
    assert is_divisible(tmp_path / "f") is divisible


def test_lines_from_the_middle_of_a_file_have_their_number():
    problems: list[Problem] = []
    lines = iter([b'{"a": 1}\n', b'{"a": '])
    values = read_lines(lines, source="f", report=problems.append, count_before=lambda: 10)
    assert list(values) == [{"a": 1}]
    assert [problem.where for problem in problems] == ["f line 12"]


def test_lines_before_are_not_counted_without_a_problem():
    def count() -> int:
        raise AssertionError

    values = read_lines(iter([b'{"a": 1}\n']), source="f", report=ignore, count_before=count)
    assert list(values) == [{"a": 1}]


@pytest.mark.parametrize(
    "tail",
    [b'{"a": "' + b'\\"' * 300_000, b"{" * 300_000, b'{"a": [\n' * 100_000, b'["' * 300_000],
    ids=["escaped quotes", "brackets", "open lines", "open strings"],
)
def test_damaged_end_takes_linear_time(tmp_path: Path, tail: bytes):
    values, problems = read(tmp_path / "f", b'{"a": 1}\n' + tail)
    assert values == [{"a": 1}]
    assert problems


def test_history_of_aider_is_refused_by_its_name(tmp_path: Path):
    path = tmp_path / ".aider.chat.history.md"
    path.write_text("# aider chat started at 2026-03-03 09:00:00\n\n#### add a route\n\nDone.\n")
    with pytest.raises(FormatError, match="Aider's chat history is not a supported"):
        list(read_values(path, report=lambda problem: None))
