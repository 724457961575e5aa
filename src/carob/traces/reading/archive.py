"""Zip archives of JSON files, such as Inspect's `.eval` logs, read file by file."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from carob.errors import FormatError
from carob.files.opening import MAX_VALUE, Stream, check_regular

if TYPE_CHECKING:
    import zipfile

_MAGIC = b"PK\x03\x04"
_OFFICE = "[Content_Types].xml"
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_SAMPLES = "samples/"
"""Where an `.eval` archive has its samples; the other files repeat parts of them."""
_SAFE_SIZE = 64 * 2**20
_MAX_RATIO = 200


def is_archive(path: Path) -> bool:
    """Whether the file is a zip archive and not an office document."""
    check_regular(path)
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        import zipfile  # late: few files are archives

        with zipfile.ZipFile(path) as archive:
            return _OFFICE not in archive.namelist()
    except (OSError, *_read_errors()):
        return False


def open_members(path: Path) -> Iterator[tuple[str, Stream]]:
    """Yield the JSON files of an archive, each with its name; read one before the next."""
    import zipfile  # late: few files are archives

    from carob.traces.reading.zstd_member import ZstdMember, needs_package

    try:
        with zipfile.ZipFile(path) as archive:
            for member in _json_members(archive, path):
                where = f"{path}:{member.filename}"
                _check_member(member, where)
                if needs_package(member):
                    with path.open("rb") as file:
                        yield where, io.BufferedReader(ZstdMember(file, member))
                    continue
                with archive.open(member) as file:
                    # A member is an `IO` by its type, and reads like a raw stream.
                    yield where, io.BufferedReader(cast("io.RawIOBase", file))
    except NotImplementedError as error:
        hint = 'pip install "carob[zstd]", or unpack it first'
        raise FormatError(f"{error} in the zip archive", where=str(path), hint=hint) from error
    except _read_errors() as error:
        raise FormatError(f"damaged zip archive: {error}", where=str(path)) from error


def _read_errors() -> tuple[type[Exception], ...]:
    import zipfile  # late: few files are archives

    return zipfile.BadZipFile, zlib.error, EOFError, RuntimeError


def _json_members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    members = [info for info in archive.infolist() if info.filename.endswith(_SUFFIXES)]
    if not members:
        hint = "expected JSON files in it"
        raise FormatError("no JSON file in the zip archive", where=str(path), hint=hint)
    return [info for info in members if info.filename.startswith(_SAMPLES)] or members


def _check_member(member: zipfile.ZipInfo, where: str) -> None:
    if member.header_offset < 0:  # the library would fail to seek
        raise FormatError("damaged zip archive: the file starts before the archive", where=where)
    if member.file_size > MAX_VALUE or (
        member.file_size > _SAFE_SIZE and member.file_size > _MAX_RATIO * member.compress_size
    ):
        hint = "unpack it first if you trust it"
        raise FormatError(f"{member.file_size >> 20} MiB unpacked", where=where, hint=hint)
