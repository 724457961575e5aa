"""The bytes of a golden file, opened: one JSON document, JSON in rows, or a table.

Golden files are hostile input: everything here has a limit, and every failure says where.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeAlias, cast

import msgspec

from carob.errors import FormatError, InputError, UnknownFormatError
from carob.files.atomic import check_regular
from carob.files.collector import collector_paused
from carob.schema import Json

Container: TypeAlias = Literal["document", "rows", "table"]

DOCUMENT_LIMIT = 512 * 2**20
"""A JSON document is decoded as a whole; rows and tables are not, and may be of any size."""
ROW_LIMIT = 64 * 2**20
_VALUE_LIMIT = 20_000_000
"""A value takes up to forty times the memory of its text."""
_BLANK_LIMIT = 1_000_000

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 64 * 2**10
_JSON = re.compile(rb'\s*([{\[]|"(\s|\\[nrt])*[{\["\\])')
"""An object, a list, or a text that holds one: a quoted CSV header is none of them."""


class Row(NamedTuple):
    """One item of a file, and the line on which it starts."""

    line: int
    value: Json
    error: InputError | None = None
    """Why the row could not be read; the rows after it still can."""
    data: bytes = b""
    """The text of a row of JSON, which says more than its value."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An open golden file. Rows can be read again and again; a document is decoded once."""

    path: Path
    container: Container
    document: Json = None
    columns: tuple[str, ...] = ()
    data: bytes = field(default=b"", repr=False)
    """The bytes of a document, to find the line of a problem in."""

    @property
    def stem(self) -> str:
        """The file's name without its endings, the name of a dataset that states none."""
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]

    def rows(self) -> Iterator[Row]:
        """The items of rows or of a table, in order; blank lines are skipped."""
        with _opened(self.path) as file:
            yield from (
                _table_rows(file, self) if self.container == "table" else _json_rows(file, self)
            )


def open_source(path: Path) -> Source:
    """Find out which container a file is; a document is decoded on the way."""
    check_regular(path)
    with _opened(path) as file:
        head = file.read(_HEAD)
        _check_text(path, head)
        file.seek(0)
        if not _JSON.match(head.removeprefix(_BOM)):
            return Source(path=path, container="table", columns=_header(file, path))
        if _has_rows(file, path):
            return Source(path=path, container="rows")
        file.seek(0)
        data = file.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        raise InputError(
            f"a JSON document of more than {DOCUMENT_LIMIT >> 20} MiB",
            where=str(path),
            hint="keep large datasets in a format of rows, such as `explain` or `csv`",
        )
    data = data.removeprefix(_BOM)
    document = _unwrapped(decode(data, where=str(path)), where=str(path))
    return Source(path=path, container="document", document=document, data=data)


def decode(data: bytes, *, where: str, line: int | None = None) -> Json:
    """One JSON value; a failure names its line."""
    if len(data) > _VALUE_LIMIT and data.count(b",") > _VALUE_LIMIT:
        raise InputError(f"more than {_VALUE_LIMIT:,} values", where=_at(where, line))
    try:
        with collector_paused():
            return cast("Json", msgspec.json.decode(data))
    except UnicodeDecodeError as error:
        raise _not_utf8(data, where, line) from error
    except RecursionError as error:
        raise InputError("JSON nested too deeply", where=_at(where, line)) from error
    except msgspec.MsgspecError as error:
        raise _malformed(str(error), data, where, line) from error


_UTF8 = "save the file as UTF-8"
_BYTE = re.compile(r" \(byte (\d+)\)$")


def _not_utf8(data: bytes, where: str, line: int | None) -> InputError:
    try:
        data.decode()
        offset = 0
    except UnicodeDecodeError as error:
        offset = error.start
    line = (line or 1) + data.count(b"\n", 0, offset)
    return InputError("not valid UTF-8", where=_at(where, line), hint=_UTF8)


def _malformed(message: str, data: bytes, where: str, line: int | None) -> InputError:
    byte = _BYTE.search(message)
    offset = int(byte[1]) if byte else len(data.rstrip())
    found = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
    hint = None
    if re.match(rb"-?(NaN|Infinity)", data[offset : offset + 9]):
        found, hint = "`NaN` and `Infinity` are not JSON", "write `null` for a missing number"
    elif "surrogate" in message or (byte is None and _LONE_SURROGATE.search(data)):
        found, hint = "a text with half of a surrogate pair", "write the whole character"
    line = (line or 1) + data.count(b"\n", 0, offset)
    column = offset - data.rfind(b"\n", 0, offset)
    return InputError(
        f"not valid JSON: {found}", where=f"{_at(where, line)} column {column}", hint=hint
    )


_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _at(where: str, line: int | None) -> str:
    return where if line is None else f"{where} line {line}"


def _unwrapped(document: Json, *, where: str) -> Json:
    """Some tools write a JSON string that holds the document."""
    for _ in range(2):
        if isinstance(document, str):
            document = decode(document.encode("utf-8", "surrogatepass"), where=where)
    return document


def _check_text(path: Path, head: bytes) -> None:
    if not head.removeprefix(_BOM).strip():
        raise UnknownFormatError("the file is empty", where=str(path))
    if head.startswith(_UTF16):
        raise InputError("UTF-16, expected UTF-8", where=str(path), hint=_UTF8)
    if b"\0" in head:
        raise UnknownFormatError("not a text file", where=str(path))


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    """The file's bytes, unpacked if it is gzip; failures of the system become ours."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == _GZIP
            raw.seek(0)
            if not zipped:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("IO[bytes]", unpacked)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"damaged gzip: {error}", where=str(path)) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from error


def _all_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    """Every line of a file, none of which is too long to be held."""
    number = blank = 0
    while line := file.readline(ROW_LIMIT + 1):
        number += 1
        blank = 0 if line.strip() else blank + 1
        if len(line) > ROW_LIMIT or blank > _BLANK_LIMIT:
            what = f"a line of more than {ROW_LIMIT >> 20} MiB"
            raise InputError(
                f"{_BLANK_LIMIT} blank lines" if blank else what, where=_at(where, number)
            )
        yield number, line.removeprefix(_BOM) if number == 1 else line


def _lines(file: IO[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in _all_lines(file, where) if line.strip())


def _has_rows(file: IO[bytes], path: Path) -> bool:
    """Is the first line a JSON value of its own, with more to follow?"""
    lines = _lines(file, str(path))
    try:
        number, first = next(lines)
        decode(first, where=str(path), line=number)
    except InputError:
        return False  # a document over several lines, or in one line that is too long for a row
    return next(lines, None) is not None


def _json_rows(file: IO[bytes], source: Source) -> Iterator[Row]:
    where = str(source.path)
    for number, line in _lines(file, where):
        try:
            yield Row(number, decode(line, where=where, line=number), data=line)
        except InputError as error:
            yield Row(number, None, error)


def _table_rows(file: IO[bytes], source: Source) -> Iterator[Row]:
    """Rows as objects that leave out empty cells, which a missing key says just as well."""
    where = str(source.path)
    cells = _cells(file, where)
    next(cells)
    for line, row in cells:
        if len(row) == len(source.columns):
            named = zip(source.columns, row, strict=True)
            yield Row(line, {name: cell for name, cell in named if cell})
            continue
        error = FormatError(
            f"{len(row)} cells, the header has {len(source.columns)}",
            where=_at(where, line),
            hint="quote cells that contain a comma",
        )
        yield Row(line, None, error)


def _header(file: IO[bytes], path: Path) -> tuple[str, ...]:
    _, columns = next(_cells(file, str(path)))
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise UnknownFormatError(f"the column {repeated!r} is there twice", where=str(path))
    return tuple(columns)


def _cells(file: IO[bytes], where: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file, each with the line on which it starts."""
    csv.field_size_limit(ROW_LIMIT)
    reader = csv.reader(_texts(file, where), strict=True)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        hint = "close the quote that opens here, and write a quote in a quoted cell twice"
        raise FormatError(f"not valid CSV: {error}", where=_at(where, start), hint=hint) from error


def _texts(file: IO[bytes], where: str) -> Iterator[str]:
    """The lines of a table, which old tools end with a carriage return alone."""
    for number, line in _all_lines(file, where):
        if b"\0" in line:
            raise InputError("a NUL byte in a text file", where=_at(where, number))
        try:
            yield from (part.decode() for part in line.splitlines(keepends=True))
        except UnicodeDecodeError as error:
            raise InputError("not valid UTF-8", where=_at(where, number), hint=_UTF8) from error
