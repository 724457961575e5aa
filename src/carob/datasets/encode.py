"""Encode cases as the text of a golden file, part by part: it is never in memory as a whole.

Every part is independent of the number of cases: a file of one case and of a million are laid out
alike, byte by byte as the encoder would format the whole document.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias, cast

import msgspec

from carob.datasets.dialect import read_dialect
from carob.datasets.patch import Object
from carob.errors import OutputError
from carob.schema import Json
from carob.text.spelling import fold_name

Documents: TypeAlias = Callable[[], Iterable[Json]]
"""Returns the cases. A table asks twice: its columns are known only after the last row."""
_GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
"""Deflate, no name, no time, best compression, unknown operating system."""
NOT_JSON = (UnicodeEncodeError, RecursionError, TypeError, msgspec.MsgspecError)


class JsonItems(NamedTuple):
    """A list whose items are encoded."""

    items: Iterable[JsonText]


class JsonMembers(NamedTuple):
    """An object whose members are encoded."""

    members: Iterable[tuple[str, JsonText]]


JsonText: TypeAlias = bytes | JsonItems | JsonMembers
"""The JSON text of a value, or its parts."""


def format_parts(value: JsonText) -> Iterator[bytes]:
    """Yield a document, indented."""
    yield from _format(value, b"", b"\n")
    yield b"\n"


def _format(value: JsonText, start: bytes, lead: bytes) -> Iterator[bytes]:
    """Yield a value after `start`. A line break with its indentation is `lead`."""
    if isinstance(value, bytes):
        yield start + msgspec.json.format(value, indent=2).replace(b"\n", lead)
        return
    brackets = b"[]" if isinstance(value, JsonItems) else b"{}"
    inner, separator = lead + b"  ", b""
    for key, item in _entries(value):
        if not separator:
            yield start + brackets[:1]
        yield from _format(item, separator + inner + key, inner)
        separator = b","
    yield lead + brackets[1:] if separator else start + brackets


def _entries(value: JsonItems | JsonMembers) -> Iterator[tuple[bytes, JsonText]]:
    if isinstance(value, JsonItems):
        yield from ((b"", item) for item in value.items)
    else:
        for name, item in value.members:
            yield encode_json(name) + b": ", item


def encode_document(frame: Json, key: str, documents: Documents) -> Iterator[bytes]:
    """Yield a JSON document that lists its cases under a key of the frame."""
    cases = JsonItems(map(encode_json, documents()))
    members = cast("Object", frame).items()
    return format_parts(
        JsonMembers((name, cases if name == key else encode_json(item)) for name, item in members)
    )


def encode_list(documents: Documents) -> Iterator[bytes]:
    """Yield a JSON list of cases."""
    return format_parts(JsonItems(map(encode_json, documents())))


def encode_rows(documents: Documents) -> Iterator[bytes]:
    """Yield JSON lines."""
    is_empty = True
    for document in documents():
        is_empty = False
        yield encode_json(document) + b"\n"
    if is_empty:
        raise OutputError("cannot write an empty dataset as rows")


def encode_table(frame: Json, documents: Documents) -> Iterator[bytes]:
    """Yield a table in the dialect of its frame."""
    stated = dict.fromkeys(cast("list[str]", cast("Object", frame)["columns"]))
    columns = dict(stated)
    for row in _table_rows(documents, stated):
        columns |= dict.fromkeys(row)
    dialect = read_dialect(frame)

    def lines() -> Iterator[str]:
        yield dialect.format_record(columns)
        for row in _table_rows(documents, stated):
            yield dialect.format_record(row.get(name, "") for name in columns)

    return dialect.encode(lines)


def _table_rows(documents: Documents, columns: Mapping[str, None]) -> Iterator[dict[str, str]]:
    """The rows with their cells under the columns of the file: a new case states `Input` even if
    the file calls that column `input`."""
    by_folded_name = {fold_name(name): name for name in columns}
    for document in documents():
        row = cast("dict[str, str]", document)
        if row.keys() <= columns.keys():
            yield row
            continue
        renamed = {key: by_folded_name.get(fold_name(key), key) for key in row}
        yield {renamed[key] if renamed[key] not in row else key: row[key] for key in row}


def encode_json(value: object) -> bytes:
    """Encode a value. Raises `OutputError` if JSON cannot express it."""
    try:
        return msgspec.json.encode(value)
    except NOT_JSON as error:
        raise not_json_error(error) from error


def not_json_error(error: Exception) -> OutputError:
    """Return the error of a value that JSON cannot express."""
    return OutputError(f"cannot write a value as JSON: {error}")


def compress_parts(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts of a gzip file without a time, so that the same cases give the same bytes."""
    # The head is not zlib's: it names the operating system, so that the same cases would give other
    # bytes on Windows.
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    checksum = size = 0
    yield _GZIP_HEAD
    for part in parts:
        checksum, size = zlib.crc32(part, checksum), size + len(part)
        if data := compressor.compress(part):
            yield data
    yield compressor.flush()
    yield struct.pack("<LL", checksum, size & 0xFFFFFFFF)
