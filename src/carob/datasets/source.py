"""Open a golden file: one JSON document, JSON lines, or a table.

Golden files are hostile input: everything here has a limit, and every error names its line.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

import msgspec

from carob.datasets.dialect import TableDialect, detect_dialect, is_separator_line
from carob.errors import FormatError, InputError, UnknownFormatError
from carob.files.collector import collector_paused
from carob.files.opening import MAX_VALUE, SAVE_AS_UTF8, InputFile, Stream, open_input
from carob.schema import Json

Container: TypeAlias = Literal["document", "rows", "table"]

DOCUMENT_LIMIT = MAX_VALUE
"""A JSON document is decoded as a whole; rows and tables are not, and may be of any size."""
ROW_LIMIT = 64 * 2**20
_VALUE_LIMIT = 20_000_000
"""A decoded value takes up to forty times the memory of its text."""
_BLANK_LIMIT = 1_000_000

_JSON = re.compile(rb'\s*([{\[]|"(\s|\\[nrt])*[{\["\\])')
"""An object, a list, or a string that holds one. A quoted CSV header is none of these."""


_COMMENT = re.compile(rb"\s*(//|/\*)")
_FRAGMENT = re.compile(rb'\s*([}\]]|"[^"\n]*"\s*:)')
"""A member without its object, or the end of one: a part that was copied out of a document."""

_PLAIN_CSV = TableDialect()


class Row(NamedTuple):
    """One item of a file, with the line on which it starts."""

    line: int
    value: Json
    error: InputError | None = None
    """Why this row could not be read; the rows after it still can."""
    data: bytes = b""
    """The text of a row of JSON, which also shows duplicate keys."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An open golden file. Rows can be read repeatedly; a document is decoded once."""

    path: Path
    container: Container
    document: Json = None
    columns: tuple[str, ...] = ()
    dialect: TableDialect = _PLAIN_CSV
    """How a table is separated and encoded."""
    data: bytes = field(default=b"", repr=False)
    """The bytes of a document, in which the line of a problem is looked up."""

    @property
    def stem(self) -> str:
        """The file name without its extensions: the default name of the dataset."""
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]

    def rows(self) -> Iterator[Row]:
        """The items of JSON lines or of a table, in order, without blank lines."""
        read = _read_table if self.container == "table" else _read_json_lines
        with open_input(self.path, encoding=self.dialect.encoding) as file:
            yield from read(file.stream, self)


def open_source(path: Path) -> Source:
    """Open a file and detect its container. A document is decoded at once."""
    with open_input(path) as file:
        _check_text(file, path)
        if _FRAGMENT.match(file.head):
            hint = "copy the whole document, from the first `{` or `[` to the last bracket"
            raise InputError("a fragment of JSON", where=_at(str(path), 1), hint=hint)
        if not _JSON.match(file.head) and not _COMMENT.match(file.head):
            return _open_table(path, detect_dialect(file))
        if _is_json_lines(file.stream, path):
            return Source(path=path, container="rows")
        file.rewind()
        data = file.stream.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        raise InputError(
            f"a JSON document of more than {DOCUMENT_LIMIT >> 20} MiB",
            where=str(path),
            hint="keep large datasets in a format of rows, such as `explain` or `csv`",
        )
    document = _unquote(decode(data, where=str(path)), where=str(path))
    return Source(path=path, container="document", document=document, data=data)


def _open_table(path: Path, dialect: TableDialect) -> Source:
    with open_input(path, encoding=dialect.encoding) as file:
        _, columns = next(_cells(file.stream, str(path), dialect))
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise UnknownFormatError(f"duplicate column {repeated!r}", where=str(path))
    return Source(path=path, container="table", columns=tuple(columns), dialect=dialect)


def decode(data: bytes, *, where: str, line: int | None = None) -> Json:
    """Decode one JSON value; an error names its line."""
    # Commas are counted before decoding: afterwards the memory is already taken.
    if len(data) > _VALUE_LIMIT and data.count(b",") > _VALUE_LIMIT:
        raise InputError(f"more than {_VALUE_LIMIT:,} values", where=_at(where, line))
    try:
        with collector_paused():
            return cast("Json", msgspec.json.decode(data))
    except UnicodeDecodeError as error:
        raise _encoding_error(data, where, line) from error
    except RecursionError as error:
        raise InputError("JSON nested too deeply", where=_at(where, line)) from error
    except msgspec.MsgspecError as error:
        raise _syntax_error(str(error), data, where, line) from error


_BYTE = re.compile(r" \(byte (\d+)\)$")


def _encoding_error(data: bytes, where: str, line: int | None) -> InputError:
    try:
        data.decode()
        offset = 0
    except UnicodeDecodeError as error:
        offset = error.start
    line = (line or 1) + data.count(b"\n", 0, offset)
    return InputError("not valid UTF-8", where=_at(where, line), hint=SAVE_AS_UTF8)


def _syntax_error(message: str, data: bytes, where: str, line: int | None) -> InputError:
    byte = _BYTE.search(message)
    offset = int(byte[1]) if byte else len(data.rstrip())
    problem = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
    hint = None
    mistake = next((text for start, text in _MISTAKES.items() if start.match(data, offset)), None)
    if mistake:
        problem, hint = mistake
    elif problem.startswith("trailing comma"):
        hint = "remove the comma after the last value"
    elif "surrogate" in message or (byte is None and _LONE_SURROGATE.search(data)):
        problem, hint = "a text with half of a surrogate pair", "write the whole character"
    line = (line or 1) + data.count(b"\n", 0, offset)
    column = offset - data.rfind(b"\n", 0, offset)
    return InputError(
        f"not valid JSON: {problem}", where=f"{_at(where, line)} column {column}", hint=hint
    )


_MISTAKES = {
    re.compile(rb"-?(NaN|Infinity)"): (
        "`NaN` and `Infinity` are not JSON",
        "write `null` for a missing number",
    ),
    re.compile(rb"//|/\*|#"): ("a comment", "remove it: JSON has no comments"),
    re.compile(rb"\.\.\.|\xe2\x80\xa6"): (
        "a `...` placeholder",
        "replace it by the values that it stands for, or remove it",
    ),
    re.compile(rb"'"): ("a text in single quotes", "use double quotes"),
}
"""What people write that is not JSON, by how it begins."""

_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _at(where: str, line: int | None) -> str:
    return where if line is None else f"{where} line {line}"


def _unquote(document: Json, *, where: str) -> Json:
    """Decode a document that a tool wrote as a JSON string."""
    for _ in range(2):
        if isinstance(document, str):
            document = decode(document.encode("utf-8", "surrogatepass"), where=where)
    return document


def _check_text(file: InputFile, path: Path) -> None:
    if b"\0" in file.head:
        raise UnknownFormatError("not a text file", where=str(path))


def _all_lines(file: Stream, where: str) -> Iterator[tuple[int, bytes]]:
    """Every line of a file with its number. Raises if one is too long to hold in memory."""
    number = blank = 0
    while line := file.readline(ROW_LIMIT + 1):
        number += 1
        blank = 0 if line.strip() else blank + 1
        if len(line) > ROW_LIMIT or blank > _BLANK_LIMIT:
            what = f"a line of more than {ROW_LIMIT >> 20} MiB"
            raise InputError(
                f"{_BLANK_LIMIT} blank lines" if blank else what, where=_at(where, number)
            )
        yield number, line


def _lines_with_content(file: Stream, where: str) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in _all_lines(file, where) if line.strip())


def _is_json_lines(file: Stream, path: Path) -> bool:
    """Whether the first line is a complete JSON value, and more lines follow."""
    lines = _lines_with_content(file, str(path))
    try:
        number, first = next(lines)
        decode(first, where=str(path), line=number)
    except InputError:
        return False  # a document over several lines, or one line that is too long for a row
    return next(lines, None) is not None


def _read_json_lines(file: Stream, source: Source) -> Iterator[Row]:
    where = str(source.path)
    for number, line in _lines_with_content(file, where):
        try:
            yield Row(number, decode(line, where=where, line=number), data=line)
        except InputError as error:
            yield Row(number, None, error)


def _read_table(file: Stream, source: Source) -> Iterator[Row]:
    """Each row as an object, without the keys of empty cells."""
    where = str(source.path)
    cells = _cells(file, where, source.dialect)
    next(cells)
    for line, row in cells:
        if len(row) == len(source.columns):
            pairs = zip(source.columns, row, strict=True)
            yield Row(line, {name: cell for name, cell in pairs if cell})
            continue
        error = FormatError(
            f"{len(row)} cells, expected {len(source.columns)} as in the header",
            where=_at(where, line),
            hint="quote cells that contain the delimiter",
        )
        yield Row(line, None, error)


def _cells(file: Stream, where: str, dialect: TableDialect) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file, the header first, each with the line on which it starts."""
    csv.field_size_limit(ROW_LIMIT)
    reader = csv.reader(_text_lines(file, where), delimiter=dialect.delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            if row and not (start == 1 and is_separator_line(row, dialect)):
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        hint = "close the quote that opens here, and write a quote in a quoted cell twice"
        raise FormatError(f"not valid CSV: {error}", where=_at(where, start), hint=hint) from error


def _text_lines(file: Stream, where: str) -> Iterator[str]:
    """The lines of a table as text. Old tools end them with a carriage return alone."""
    for number, line in _all_lines(file, where):
        if b"\0" in line:
            raise InputError("a NUL byte in a text file", where=_at(where, number))
        try:
            yield from (part.decode() for part in line.splitlines(keepends=True))
        except UnicodeDecodeError as error:
            raise InputError(
                "not valid UTF-8", where=_at(where, number), hint=SAVE_AS_UTF8
            ) from error
