from __future__ import annotations

import gzip
import io
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from carob.datasets.source import open_source
from carob.errors import InputError
from carob.files.opening import check_regular, open_input, read_packed
from carob.traces.reading.json_values import read_values

LINES = '{"a": "é 🚲"}\n{"a": 2}\n'
PACKED = {
    "plain": LINES.encode(),
    "byte order mark": LINES.encode("utf-8-sig"),
    "UTF-16 LE": b"\xff\xfe" + LINES.encode("utf-16-le"),
    "UTF-16 BE": b"\xfe\xff" + LINES.encode("utf-16-be"),
    "UTF-32 LE": b"\xff\xfe\0\0" + LINES.encode("utf-32-le"),
    "UTF-32 BE": b"\0\0\xfe\xff" + LINES.encode("utf-32-be"),
    "gzip": gzip.compress(LINES.encode(), mtime=0),
    "gzip of UTF-16": gzip.compress(LINES.encode("utf-16"), mtime=0),
}
REFUSED = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\xef\xbb\xbf \n\n", "the file is empty"),
    "empty UTF-16": (b"\xff\xfe", "the file is empty"),
    "empty gzip": (gzip.compress(b"", mtime=0), "the file is empty"),
    "truncated gzip": (gzip.compress(b'{"a": 1}' * 99, mtime=0)[:-20], "damaged gzip data: "),
    "not gzip": (b"\x1f\x8bnonsense", "damaged gzip data: "),
    "truncated Parquet": (b"PAR1\x15\x04\x15\x10", "truncated Parquet file"),
    "gzip of Parquet": (gzip.compress(b"PAR1\x15\x04"), "a Parquet file, expected text"),
    "SQLite": (b"SQLite format 3\0\x10\0", "an SQLite database, expected text"),
    "zip": (b"PK\x03\x04\x14\0a.json", "a zip archive, expected text"),
    "xlsx": (b"PK\x03\x04\x14\0[Content_Types].xml", "an Excel workbook, expected text"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\0", "zstd data, expected text"),
}


def read_dataset(path: Path) -> list[object]:
    return [row.value for row in open_source(path).rows()]


def read_trace(path: Path) -> list[object]:
    return [*read_values(path, report=lambda problem: None)]


def outcome(read: Callable[[Path], list[object]], path: Path) -> list[object] | str:
    try:
        return read(path)
    except InputError as error:
        return error.message


def write_bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("packing", PACKED)
def test_datasets_and_traces_read_the_same_bytes(packing: str, tmp_path: Path):
    path = write_bytes(tmp_path / "f", PACKED[packing])
    assert read_dataset(path) == read_trace(path) == list(map(json.loads, LINES.splitlines()))


@pytest.mark.parametrize("kind", REFUSED)
def test_datasets_and_traces_refuse_the_same_bytes_with_the_same_message(kind: str, tmp_path: Path):
    data, message = REFUSED[kind]
    path = write_bytes(tmp_path / "f", data)
    refused = outcome(read_dataset, path)
    assert isinstance(refused, str)
    assert refused.startswith(message)
    assert outcome(read_trace, path) == refused


@pytest.mark.parametrize("content", [b'{"a": "%s"}', b'{"a": 1}\n%s', b"a,b\n%s", b"[%s"])
def test_gzip_bomb_is_refused_before_it_fills_the_memory(content: bytes, tmp_path: Path):
    start, _, end = content.partition(b"%s")
    block, packed = b"x" * 2**20, gzip.compress(start)
    packed += gzip.compress(block) * 1024 + gzip.compress(end)
    path = write_bytes(tmp_path / "f", packed)
    for read in (read_dataset, read_trace):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert str(outcome(read, path)).startswith("suspicious gzip data: more than 200 times")
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize("name", [".", "missing", "pipe", "file/inner"])
def test_datasets_and_traces_refuse_the_same_paths(name: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    write_bytes(tmp_path / "file", b"{}")
    refused = outcome(read_dataset, tmp_path / name)
    assert isinstance(refused, str)
    assert outcome(read_trace, tmp_path / name) == refused


@pytest.mark.parametrize("packing", PACKED)
def test_changed_text_is_compressed_as_before(packing: str, tmp_path: Path):
    path = write_bytes(tmp_path / "f", PACKED[packing])
    data, packed_as = read_packed(path)
    assert data == LINES.encode()
    path.write_bytes(packed_as.pack(data.replace(b"2", b"3")))
    assert read_dataset(path)[1] == {"a": 3}
    if "gzip" not in packing:
        assert packed_as.pack(data) == PACKED[packing]


def test_invalid_utf_16_is_an_error_with_its_line(tmp_path: Path):
    text = "x\n" * 200_000
    path = write_bytes(tmp_path / "f", text.encode("utf-16") + b"\0\xd8")
    with pytest.raises(InputError) as caught:
        read_packed(path)
    assert caught.value.where == f"{path} line 200001"
    assert caught.value.message == "not valid UTF-16"


def test_tolerant_reader_replaces_invalid_utf_16(tmp_path: Path):
    path = write_bytes(tmp_path / "f", '["'.encode("utf-16") + b"\0\xd8" + '"]'.encode("utf-16-le"))
    with open_input(path, tolerant=True) as file:
        assert file.stream.read().decode() == '["\ufffd"]'


def test_tolerant_reader_reads_a_truncated_gzip_file_to_its_end(tmp_path: Path):
    lines = "".join(f'{{"a": {number * 7919 % 10007}}}\n' for number in range(2000))
    path = write_bytes(tmp_path / "f", gzip.compress(lines.encode())[:-2000])
    problems: list[str] = []
    values = [*read_values(path, report=lambda problem: problems.append(problem.message))]
    assert 100 < len(values) < 2000
    assert problems[0].startswith("damaged gzip data: ")


def test_plain_text_that_begins_like_another_format_is_text(tmp_path: Path):
    with open_input(write_bytes(tmp_path / "f", b"PAR1,BZh\n1,2\n")) as file:
        assert file.head == b"PAR1,BZh\n1,2\n"


def test_plain_file_is_read_without_a_wrapper(tmp_path: Path):
    with open_input(write_bytes(tmp_path / "f", LINES.encode())) as file:
        assert isinstance(file.stream, io.BufferedReader)
        assert isinstance(file.stream.raw, io.FileIO)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("missing.json", "missing.json: no such file", None),
        ("a.json/b", "a.json/b: no such file", None),
        ("-", "-: no such file", "standard input is not read: save it to a file first"),
        ("folder", "folder: a directory, not a file", "name the files in it: folder/*"),
        ("pipe", "pipe: not a regular file", "save it to a file first"),
    ],
)
def test_irregular_file_is_an_error_with_its_kind(
    name: str, message: str, hint: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("a.json").touch()
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(InputError) as caught:
        check_regular(Path(name))
    assert (str(caught.value), caught.value.hint) == (message, hint)
