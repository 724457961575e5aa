from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path

import pytest

from carob.datasets import decode
from carob.datasets import source as module
from carob.datasets.source import open_source
from carob.errors import InputError
from carob.files import lines


def write_bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


DEEP = b'{"examples":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
BAD = [
    (DEEP, "nested too deeply"),
    (b'"' + b"[" * 100_000 + b'"', "nested too deeply"),
    (b'{"a": NaN}', "line 1 column 7: not valid JSON: `NaN`"),
    (b'{"a": -Infinity}', "`NaN` and `Infinity` are not JSON"),
    (b'{"a":\n "\\ud800"}', "line 2.*half of a surrogate pair"),
    (b'{"a":\n "\\udc00"}', "line 2.*half of a surrogate pair"),
    (b'{"a":\n "\xff"}', "line 2: not valid UTF-8"),
    (b'{"a":\n "\xed\xa0\x80"}', "line 2: not valid UTF-8"),
    ('{\n"a": 1'.encode("utf-16") + b"\0\xd8", "line 2: not valid UTF-16"),
    (b'{"a": "\0"}', "not a text file"),
    (b'{"a": ' + b"9" * 100_000 + b"}", "out of range"),
    (b'{"1e999":\n [1.5,\n 1e999],\n "b": 2\n}', "line 3 column 2: .*a number out of range"),
    (b'{"a": [1,\n 2', "line 2 column 3: not valid JSON"),
    (gzip.compress(b"{}" * 1000, mtime=0)[:-9], "damaged gzip"),
    (b"\x1f\x8bnonsense", "damaged gzip"),
    (b"", "the file is empty"),
    (b"\xef\xbb\xbf \n", "the file is empty"),
    (b"a,a\n1,2\n", "duplicate column 'a'"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_bytes_have_a_clear_error(data: bytes, message: str, tmp_path: Path):
    with pytest.raises(InputError, match=message):
        open_source(write_bytes(tmp_path / "file", data))


def test_only_regular_files_are_opened(tmp_path: Path):
    fifo, bound, loop = tmp_path / "fifo", tmp_path / "socket", tmp_path / "loop"
    os.mkfifo(fifo)
    loop.symlink_to(loop)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(bound))
        for path in (fifo, bound, loop, tmp_path, Path("/dev/zero"), tmp_path / "none", Path("\0")):
            with pytest.raises(InputError, match=r"directory|regular|no such|cannot be read"):
                open_source(path)


@pytest.mark.parametrize("start", [b"", b'{"eval_cases": [', b"Input,ExpectedOutput\n"])
def test_sparse_file_of_two_gigabytes_is_refused_at_once(start: bytes, tmp_path: Path):
    path = write_bytes(tmp_path / "sparse", start)
    os.truncate(path, 2 * 2**30)
    with pytest.raises(InputError, match="not a text file"):
        open_source(path)


def test_too_large_a_document_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "DOCUMENT_LIMIT", 2**20)
    packed = write_bytes(tmp_path / "bomb.gz", gzip.compress(b"{\n" + b" " * 2**22 + b"}"))
    with pytest.raises(InputError, match="a JSON document of more than 1 MiB"):
        open_source(packed)


def test_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(decode, "_VALUE_LIMIT", 1000)
    with pytest.raises(InputError, match="more than 1,000 values"):
        open_source(write_bytes(tmp_path / "a.json", b"[" + b"0," * 2000 + b"0]"))


def test_too_long_a_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lines, "ROW_LIMIT", 1000)
    source = open_source(write_bytes(tmp_path / "a.csv", b'Input,ExpectedOutput\n"' + b"a" * 2000))
    with pytest.raises(InputError, match="line 2: a line of more than"):
        list(source.rows())


def test_blank_lines_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lines, "_BLANK_LIMIT", 100)
    with pytest.raises(InputError, match="100 blank lines"):
        open_source(write_bytes(tmp_path / "a.jsonl", b"{}\n" + b"\n" * 200 + b"{}\n"))


@pytest.mark.parametrize(
    ("data", "line"),
    [(b'"open,x\ny,z\n', 2), (b'a,"b"c\n', 2), (b"a,b\n\xff,b\n", 3), (b"a,b\n\0,b\n", 3)],
    ids=["open quote", "text after a quote", "not UTF-8", "NUL"],
)
def test_broken_table_names_the_line(data: bytes, line: int, tmp_path: Path):
    path = write_bytes(tmp_path / "a.csv", b"Input,ExpectedOutput\n" + b"")
    source = open_source(path)
    write_bytes(path, b"Input,ExpectedOutput\n" + data)
    with pytest.raises(InputError, match=f"line {line}: "):
        list(source.rows())


def test_rows_start_where_their_cells_do(tmp_path: Path):
    data = b'\xef\xbb\xbfa,b\r\n"1\r\n2",x\r\n\r\n3,\r\n'
    rows = list(open_source(write_bytes(tmp_path / "a.csv", data)).rows())
    assert [(row.line, row.value) for row in rows] == [
        (2, {"a": "1\r\n2", "b": "x"}),
        (5, {"a": "3"}),
    ]


def test_old_line_ends_are_read(tmp_path: Path):
    rows = list(open_source(write_bytes(tmp_path / "a.csv", b"a,b\r1,2\r3,4")).rows())
    assert [row.value for row in rows] == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_document_may_be_a_text_that_holds_it(tmp_path: Path):
    assert open_source(write_bytes(tmp_path / "a", b'"{\\"a\\": 1}"')).document == {"a": 1}


def test_file_without_permission_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_bytes(tmp_path / "a.json", b"{}")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        open_source(path)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('{\n  // why\n  "a": 1}', "line 2 column 3: not valid JSON: a comment", "remove it"),
        ('/* why */ {"a": 1}', "line 1 column 1: not valid JSON: a comment", "remove it"),
        ('{"a": [\n...]}', "line 2 column 1: not valid JSON: a `...` placeholder", "replace it"),
        ('{"a": 1, …}', "line 1 column 10: not valid JSON: a `...` placeholder", "replace it"),
        ("[1,]", "line 1 column 4: not valid JSON: trailing comma in array", "remove the comma"),
        ("{'a': 1}", "line 1 column 2: not valid JSON: a text in single quotes", "double quotes"),
        (
            '{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> branch\n}',
            "line 2 column 1: not valid JSON: a git merge conflict",
            "remove the markers",
        ),
        ('"examples": [\n{"a": 1}]', "line 1: a fragment of JSON", "copy the whole document"),
        ('}, {"a": 1}', "line 1: a fragment of JSON", "copy the whole document"),
    ],
)
def test_common_mistakes_in_json_are_named(tmp_path: Path, text: str, message: str, hint: str):
    path = write_bytes(tmp_path / "a.json", text.encode())
    with pytest.raises(InputError) as caught:
        open_source(path)
    assert str(caught.value) == f"{path} {message}"
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["null", "5", "not JSON", "eval_set_id"])
def test_word_in_a_json_file_is_not_the_column_of_a_table(tmp_path: Path, text: str):
    (file := tmp_path / "x.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match="not JSON: expected an object or a list"):
        open_source(file)
    assert open_source(file.rename(tmp_path / "x.csv")).columns == (text,)
