"""Zip archives: which of their files are read, and which archives are refused."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from carob.errors import FormatError
from carob.traces.reading.archive import is_archive
from carob.traces.reading.json_values import read_values


def pack(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_json", ".json"), content)
    return path


def values(path: Path) -> list[object]:
    return list(read_values(path, report=lambda problem: None))


def test_every_json_file_is_read(tmp_path: Path):
    path = pack(tmp_path / "a.zip", a_json='{"a": 1}', b_jsonl='{"b": 1}\n{"b": 2}', c="text")
    assert values(path) == [{"a": 1}, {"b": 1}, {"b": 2}]


def test_samples_come_without_the_files_that_repeat_them(tmp_path: Path):
    path = pack(tmp_path / "a.eval", header_json="{}", samples__a_json='{"a": 1}')
    assert values(path) == [{"a": 1}]


def test_archive_without_json_is_refused(tmp_path: Path):
    with pytest.raises(FormatError, match="no JSON file in the zip archive"):
        values(pack(tmp_path / "a.zip", readme="text"))


def test_bomb_is_refused(tmp_path: Path):
    path = pack(tmp_path / "a.zip", a_json='"' + " " * (65 * 2**20) + '"')
    with pytest.raises(FormatError, match="MiB unpacked"):
        values(path)


def test_directory_with_a_wrong_position_is_refused(tmp_path: Path):
    path = pack(tmp_path / "a.eval", samples__a_json='{"a": 1}')
    data = bytearray(path.read_bytes())
    position = data.rindex(b"PK\x05\x06") + 16
    (start,) = struct.unpack_from("<I", data, position)
    struct.pack_into("<I", data, position, start + 500)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged zip archive: the file starts before"):
        values(path)


@pytest.mark.parametrize("start", [5, 10**6])
def test_zstd_file_at_a_wrong_position_is_refused(start: int, tmp_path: Path):
    path = pack(tmp_path / "a.eval", samples__a_json='{"a": 1}')
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, entry + 10, 93)  # Zstandard
    struct.pack_into("<I", data, entry + 42, start)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="damaged zip archive"):
        values(path)


def test_office_document_is_no_archive(tmp_path: Path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    assert not is_archive(path)
