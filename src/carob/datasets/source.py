"""Open a golden file: one document in JSON or YAML, JSON lines, the rows of a Parquet file, or a
table in CSV or Excel.

Golden files are hostile input: everything here has a limit, and every error names its line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from carob.datasets import locate
from carob.datasets.decode import decode, decode_yaml
from carob.datasets.json_list import JsonList, split_list
from carob.errors import FormatError, InputError, UnknownFormatError
from carob.files.dialect import TableDialect, detect_dialect
from carob.files.lines import ROW_LIMIT, at_line, lines_with_content
from carob.files.opening import MAX_VALUE, InputFile, Stream, check_regular, open_input
from carob.files.parquet import is_parquet, read_parquet_lines
from carob.files.tables import read_csv
from carob.schema import Json, Problem

Container: TypeAlias = Literal["document", "list", "rows", "table"]
"""A document lists its cases under a key; a list and rows consist of cases only."""
LIST_KEY = "container"
"""The key that says in the frame of a list that it was one, so that converting back restores it."""

DOCUMENT_LIMIT = MAX_VALUE
"""Rows, tables and the list of a document may be of any size; other documents are decoded as a
whole."""
SPLIT_FROM = 4 << 20
"""Bytes of a JSON document from which its list is kept in a file."""
YAML_LIMIT = 64 * 2**20
"""YAML takes a hundred times longer to decode."""

_JSON = re.compile(rb'\s*([{\[]|"(\s|\\[nrt])*[{\["\\])')
"""An object, a list, or a string that holds one. A quoted CSV header is none of these."""
_COMMENT = re.compile(rb"\s*(//|/\*)")
_FRAGMENT = re.compile(rb'\s*([}\]]|"[^"\n]*"\s*:)')
"""A member without its object, or the end of one: a part that was copied out of a document."""
_YAML_START = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*|---[^\n]*|%YAML[^\n]*)?\n)*")
_YAML = re.compile(rb" *(-[ \r\n]|[\w'][^\n,;\t:]*:([ \r\n]|$))")
"""An item, or a key: a comma before the colon makes it a CSV header."""
_BLOCK = 1 << 20
_YAML_SUFFIXES = (".yaml", ".yml")
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_ZIP = b"PK\x03\x04"
_PARQUET = "Parquet file"

_PLAIN_CSV = TableDialect()


class Row(NamedTuple):
    """One item of a file, with the line on which it starts."""

    line: int
    value: Json
    error: InputError | None = None
    """Why this row could not be read; the rows after it still can."""
    data: bytes = b""
    """The text of a row of JSON, which also shows duplicate keys."""
    note: str = ""
    """A deviation from the expected syntax that was read all the same."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An open golden file. Rows can be read repeatedly; a document is decoded once."""

    path: Path
    container: Container
    kind: str
    """What the file is, in words."""
    document: Json = None
    """The decoded document; of a large one, with the first items of its list only."""
    listed: JsonList | None = field(default=None, repr=False)
    """The list of a large document."""
    columns: tuple[str, ...] = ()
    dialect: TableDialect = _PLAIN_CSV
    """How a table is separated and encoded."""
    sheets: tuple[str, ...] = ()
    """The sheets of a workbook, the one that is read first."""
    data: bytes = field(default=b"", repr=False)
    """The bytes of a JSON document, in which the line of a problem is looked up; those of a large
    one without its list."""
    yaml_lines: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)
    comments: int = 0
    """Lines of YAML with a comment."""
    aliases: int = 0
    """Aliases in YAML, which stand for a copy of another value."""

    @property
    def stem(self) -> str:
        """The file name without its extensions: the default name of the dataset."""
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]

    @property
    def is_text(self) -> bool:
        """Whether the file is JSON or CSV, in which a part of the text can be replaced."""
        return not self.sheets and not self.yaml_lines and self.kind != _PARQUET

    def rows(self) -> Iterator[Row]:
        """The items of JSON lines or of a table, in order, without blank lines."""
        if self.container == "table":
            yield from _read_table(self)
        elif self.kind == _PARQUET:
            lines = read_parquet_lines(self.path)
            yield from _decode_lines(enumerate(lines, 1), str(self.path))
        else:
            with open_input(self.path) as file:
                lines = lines_with_content(file.stream, str(self.path))
                yield from _decode_lines(lines, str(self.path))

    def list_items(self) -> Iterator[Row]:
        """The items of the list of a large document."""
        for data in self.listed.items if self.listed else ():
            yield Row(0, decode(data, where=str(self.path)), data=data)

    def find_lines(self, paths: Collection[str]) -> dict[str, int]:
        """The line of each path in a document, or of the closest value that encloses it."""
        if self.yaml_lines:
            lines = {path: locate.find_enclosing(path, self.yaml_lines) for path in paths}
            return {path: line for path, line in lines.items() if line is not None}
        if self.listed:
            return self.listed.find_lines(paths)
        return locate.find_lines(self.data, paths) if self.data else {}

    def notes(self) -> Iterator[Problem]:
        """Notes on detected dialects and on parts that are not read."""
        if detected := self.dialect.describe():
            yield Problem(where="$", message=detected, severity="note")
        if len(self.sheets) > 1:
            others = ", ".join(map(repr, self.sheets[1:]))
            message = f"read the sheet {self.sheets[0]!r}; other sheets: {others}"
            yield Problem(where="$", message=message, severity="note")
        if self.comments:
            lines = "1 comment" if self.comments == 1 else f"{self.comments} comments"
            message = f"{lines} of the YAML file, not kept when the data is written"
            yield Problem(where="$", message=message, severity="note")
        if self.aliases:
            names = "1 alias" if self.aliases == 1 else f"{self.aliases} aliases"
            message = f"{names} of the YAML file, replaced by copies when the data is written"
            yield Problem(where="$", message=message, severity="note")


def open_source(path: Path) -> Source:
    """Open a file and detect its container. A document is decoded at once."""
    return open_sources(path)[0]


def open_sources(path: Path, *, split: bool = False) -> list[Source]:
    """Open a file as `open_source` does; of a workbook, every sheet that has cells. With `split`,
    the list of a large JSON document is not decoded."""
    if _is_workbook(path):
        return _open_sheets(path)
    if is_parquet(path):
        return [Source(path=path, container="rows", kind=_PARQUET)]
    return [_open_text(path, split)]


def _open_text(path: Path, split: bool) -> Source:
    with open_input(path) as file:
        _check_text(file, path)
        if _FRAGMENT.match(file.head):
            hint = "copy the whole document, from the first `{` or `[` to the last bracket"
            raise InputError("a fragment of JSON", where=at_line(str(path), 1), hint=hint)
        if _is_yaml(file.head, path):
            return _open_yaml(file, path)
        if not _JSON.match(file.head) and not _COMMENT.match(file.head):
            return _open_table(path, detect_dialect(file))
        if _is_json_lines(file, path):
            return Source(path=path, container="rows", kind="JSON Lines file")
        file.rewind()
        if split and (listed := _split_document(file)):
            return Source(
                path=path,
                container="document",
                kind="JSON document",
                document=listed.document,
                listed=listed,
                data=listed.frame,
            )
        hint = "keep large datasets in a format of rows, such as `explain` or `csv`"
        data = _read_document(file, path, "JSON", DOCUMENT_LIMIT, hint)
    document = _unquote(decode(data, where=str(path)), where=str(path))
    return Source(
        path=path, container="document", kind="JSON document", document=document, data=data
    )


def _split_document(file: InputFile) -> JsonList | None:
    """Split a large document; a small one is decoded faster as a whole."""
    is_large = len(file.stream.read(SPLIT_FROM)) == SPLIT_FROM
    file.rewind()
    listed = split_list(file.stream) if is_large else None
    if not listed:
        file.rewind()
    return listed


def _read_document(file: InputFile, path: Path, syntax: str, limit: int, hint: str) -> bytes:
    data = file.stream.read(limit + 1)
    if len(data) > limit:
        message = f"a {syntax} document of more than {limit >> 20} MiB"
        raise InputError(message, where=str(path), hint=hint)
    return data


def _is_yaml(head: bytes, path: Path) -> bool:
    start = _YAML_START.match(head)
    at = start.end() if start else 0
    if path.name.lower().removesuffix(".gz").endswith(_YAML_SUFFIXES) and not _JSON.match(head):
        return True
    # After a comment, `{` begins a document in YAML's other style: JSON has no comments.
    return bool(_YAML.match(head, at) or (head[:at].strip() and _JSON.match(head, at)))


def _open_yaml(file: InputFile, path: Path) -> Source:
    data = _read_document(file, path, "YAML", YAML_LIMIT, "write it as JSON")
    yaml = decode_yaml(data, where=str(path))
    return Source(
        path=path,
        container="document",
        kind="YAML document",
        document=yaml.value,
        yaml_lines=yaml.lines,
        comments=yaml.comments,
        aliases=yaml.aliases,
    )


def _open_table(path: Path, dialect: TableDialect) -> Source:
    _, columns = next(_read_csv(path, dialect))
    if len(columns) == 1 and path.name.removesuffix(".gz").endswith(_JSON_SUFFIXES):
        hint = "end its name in .csv if it is a table"
        message = "not JSON: expected an object or a list"
        raise InputError(message, where=at_line(str(path), 1), hint=hint)
    _check_columns(columns, str(path))
    return Source(
        path=path, container="table", kind="CSV file", columns=tuple(columns), dialect=dialect
    )


def _is_workbook(path: Path) -> bool:
    check_regular(path)
    try:
        with path.open("rb") as file:
            is_zip = file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False  # `open_input` says why
    if not is_zip:
        return False
    from carob.datasets.workbook import is_workbook  # late: few files are workbooks

    return is_workbook(path)


def _open_sheets(path: Path) -> list[Source]:
    from carob.datasets.workbook import read_sheet, sheet_names

    names = sheet_names(path)
    sources: list[Source] = []
    for name in names:
        columns = next((cells for _, cells in read_sheet(path, name)), None)
        if columns is None:
            continue
        _check_columns(columns, f"{path} sheet {name!r}")
        others = tuple(other for other in names if other != name)
        sources.append(
            Source(
                path=path,
                container="table",
                kind="Excel workbook",
                columns=tuple(columns),
                sheets=(name, *others),
            )
        )
    if not sources:
        raise UnknownFormatError("no sheet with cells", where=str(path))
    return sources


def _check_columns(columns: list[str], where: str) -> None:
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise FormatError(f"duplicate column {repeated!r}", where=where)


def _unquote(document: Json, *, where: str) -> Json:
    """Decode a document that a tool wrote as a JSON string."""
    for _ in range(2):
        if isinstance(document, str):
            document = decode(document.encode("utf-8", "surrogatepass"), where=where)
    return document


def _check_text(file: InputFile, path: Path) -> None:
    if b"\0" in file.head:
        raise FormatError("not a text file", where=str(path))


def _is_json_lines(file: InputFile, path: Path) -> bool:
    """Whether the first line is a complete JSON value, and more lines follow."""
    if not _has_second_line(file.stream):
        return False
    file.rewind()
    lines = lines_with_content(file.stream, str(path))
    try:
        number, first = next(lines)
        decode(first, where=str(path), line=number)
    except InputError:
        return False  # a document over several lines, or one line that is too long for a row
    return next(lines, None) is not None


def _has_second_line(stream: Stream) -> bool:
    """Whether there is text after the first line of it. A large document is often a single line,
    which is not decoded to see that it is not a row."""
    size = 0
    has_text = is_over = False
    while size <= ROW_LIMIT and (block := stream.readline(_BLOCK)):
        size += len(block)
        if not block.isspace():
            if is_over:
                return True
            has_text = True
        is_over = has_text and block.endswith(b"\n")
    return False


def _decode_lines(lines: Iterable[tuple[int, bytes]], where: str) -> Iterator[Row]:
    for number, line in lines:
        try:
            yield Row(number, decode(line, where=where, line=number), data=line)
        except InputError as error:
            yield Row(number, None, error)


def _records(
    path: Path, dialect: TableDialect, sheet: str | None
) -> Iterator[tuple[int, list[str]]]:
    """The records of a table, the header first, each with the line on which it starts."""
    if sheet is None:
        return _read_csv(path, dialect)
    from carob.datasets.workbook import read_sheet  # late: few tables are workbooks

    return read_sheet(path, sheet)


def _read_csv(path: Path, dialect: TableDialect) -> Iterator[tuple[int, list[str]]]:
    with open_input(path, encoding=dialect.encoding) as file:
        yield from read_csv(file.stream, str(path), dialect)


def _read_table(source: Source) -> Iterator[Row]:
    """Each row as an object, without the keys of empty cells."""
    sheet = source.sheets[0] if source.sheets else None
    records = _records(source.path, source.dialect, sheet)
    next(records)
    for line, row in records:
        missing = len(source.columns) - len(row)
        if missing < 0 and not any(row[missing:]):
            missing = 0  # spreadsheets fill rows up with empty cells
        # With more cells missing, the row is probably a part of one that has a line break.
        if missing in (0, 1) and len(row) > missing:
            pairs = zip(source.columns, row, strict=False)
            cells: dict[str, Json] = {name: cell for name, cell in pairs if cell}
            note = f"missing the last cell, {source.columns[-1]!r}, read as empty"
            yield Row(line, cells, note=note if missing else "")
            continue
        error = FormatError(
            f"{len(row)} cells, expected {len(source.columns)} as in the header",
            where=at_line(str(source.path), line),
            hint="name every column" if sheet else "quote cells that contain the delimiter",
        )
        yield Row(line, None, error)
