"""`carob lint --fix`: mask personal data and secrets in a file and change nothing else.

The file is edited as text. Decoding and encoding it again would change its layout, its numbers
(`1.50`) and its escapes everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import NamedTuple, TypeAlias

import msgspec

from carob.datasets.lint.privacy import is_allowed, rule_for, texts_and_keys
from carob.datasets.lint.rules import JsonPath, LintItem, LintOptions
from carob.datasets.masking import Masks
from carob.datasets.read import GoldenFile
from carob.datasets.sidecar import has_sidecar, sidecar_path
from carob.errors import UsageError
from carob.files.atomic import write_atomic
from carob.files.dialect import TableDialect, is_separator_line
from carob.files.opening import read_packed
from carob.text.sensitive import SensitiveMatch


class FileMasking:
    """Masks one golden file."""

    def __init__(
        self, opened: GoldenFile, items: Sequence[LintItem], settings: LintOptions
    ) -> None:
        self._opened = opened
        self._items = items
        self._ignored = settings.ignore
        self._masks = Masks(settings.region)
        self.count = 0
        """Number of texts that were changed."""

    def write(self) -> None:
        """Mask the file; write it only if something was masked."""
        source, path = self._opened.source, self._opened.source.path
        if not source.is_text:
            raise UsageError(
                f"cannot mask a file of the kind {source.kind}",
                where=str(path),
                hint="convert it to JSON or CSV and mask that file",
            )
        if has_sidecar(path):
            raise UsageError(
                f"cannot mask a file with the sidecar file {sidecar_path(path).name}",
                where=str(path),
                hint="convert it back and mask the original, or delete the sidecar file",
            )
        data, packing = read_packed(path, encoding=self._opened.source.dialect.encoding)
        for doc in (self._opened.frame, *(item.doc for item in self._items)):
            for _, text in texts_and_keys(doc):
                self._masks.reserve(text)
        masked = self._mask_file(data)
        if masked != data:
            write_atomic(path, packing.pack(masked))

    def _mask_file(self, data: bytes) -> bytes:
        match self._opened.source.container:
            case "table":
                return self._mask_table(data.decode()).encode()
            case "rows":
                return b"".join(self._mask_rows(data))
            case "document" | "list":
                return edit_json(data, self._document_edit())

    def _mask_table(self, text: str) -> str:
        ignored = self._ignores_by_line()
        return edit_table(
            text,
            lambda line, column, cell: self._mask((column,), cell, ignored.get(line)),
            self._opened.source.dialect,
        )

    def _mask_rows(self, body: bytes) -> Iterator[bytes]:
        ignored = self._ignores_by_line()
        for number, line in enumerate(BytesIO(body), 1):
            own = ignored.get(number)
            yield edit_json(line, lambda path, text, own=own: self._mask(path, text, own))

    def _ignores_by_line(self) -> Mapping[int, frozenset[str]]:
        return {item.location.line or 1: item.location.ignored for item in self._items}

    def _document_edit(self) -> TextEdit:
        ignored = {item.location.base: item.location.ignored for item in self._items}
        lengths = {len(base) for base in ignored}

        def edit(path: JsonPath, text: str) -> str:
            own = next((ignored[path[:size]] for size in lengths if path[:size] in ignored), None)
            return self._mask(path, text, own)

        return edit

    def _mask(self, path: JsonPath, text: str, case_ignores: frozenset[str] | None) -> str:
        ignored = self._ignored | (case_ignores or frozenset())

        def is_masked(match: SensitiveMatch) -> bool:
            return rule_for(match).id not in ignored and not is_allowed(match, path)

        masked = self._masks.mask(text, is_masked)
        self.count += masked != text
        return masked


TextEdit: TypeAlias = Callable[[JsonPath, str], str]
"""The new text for the text at a path; a key has the path of its object."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]')
_LINE_END = re.compile(r"\r\n|\n|\r")


class _OpenValue(NamedTuple):
    """An object or a list that has not ended."""

    path: JsonPath
    is_object: bool


def edit_json(data: bytes, edit: TextEdit) -> bytes:
    """A JSON text with its strings edited; every other byte stays the same."""
    parts: list[bytes] = []
    end = 0
    for start, literal, path in _strings(data):
        text = msgspec.json.decode(literal, type=str)
        edited = edit(path, text)
        if edited != text:
            parts += [data[end:start], msgspec.json.encode(edited)]
            end = start + len(literal)
    return b"".join([*parts, data[end:]])


def _strings(data: bytes) -> Iterator[tuple[int, bytes, JsonPath]]:
    """Every string literal with its offset and path."""
    open_values: list[_OpenValue] = []
    member: str | int = 0
    is_key: bool = False
    for token in _TOKEN.finditer(data):
        literal = token[0]
        path = (*open_values[-1].path, member) if open_values else ()
        if literal in (b"{", b"["):
            open_values.append(_OpenValue(path, literal == b"{"))
            is_key, member = literal == b"{", 0
        elif literal in (b"}", b"]"):
            closed = open_values.pop()
            is_key, member = False, closed.path[-1] if closed.path else 0
        elif literal == b",":
            is_key = open_values[-1].is_object
            member = member + 1 if isinstance(member, int) and not is_key else member
        elif is_key:
            is_key, member = False, msgspec.json.decode(literal, type=str)
            yield token.start(), literal, open_values[-1].path
        else:
            yield token.start(), literal, path


@cache
def _cell_pattern(delimiter: str) -> re.Pattern[str]:
    """A quoted or bare cell, and what ends it."""
    return re.compile(
        rf'(?:"([^"]*(?:""[^"]*)*)"|([^{delimiter}\r\n]*))({delimiter}|\r\n|\n|\r|\Z)'
    )


def edit_table(
    text: str, edit: Callable[[int, str, str], str], dialect: TableDialect | None = None
) -> str:
    """A CSV text with its cells edited; every other character stays the same.

    `edit` gets the line on which the row starts, the name of the column and the cell.
    """
    dialect = dialect or TableDialect()
    columns: list[str] = []
    in_header = True
    parts: list[str] = []
    line = row_line = 1
    column = end = 0
    for cell in _cell_pattern(dialect.delimiter).finditer(text):
        is_quoted = cell[1] is not None
        value = cell[1].replace('""', '"') if is_quoted else cell[2]
        if in_header:
            columns.append(value)
        elif column < len(columns):
            edited = edit(row_line, columns[column], value)
            if edited != value:
                parts += [text[end : cell.start()], _quote_cell(edited, is_quoted, dialect)]
                end = cell.end() - len(cell[3])
        line += len(_LINE_END.findall(cell[0]))
        column += 1
        if cell[3] != dialect.delimiter:
            row_line, column = line, 0
            # Blank lines and a separator line come before the header.
            in_header = in_header and (columns == [""] or is_separator_line(columns, dialect))
            columns = [] if in_header else columns
    return "".join([*parts, text[end:]])


def _quote_cell(text: str, was_quoted: bool, dialect: TableDialect) -> str:
    return '"' + text.replace('"', '""') + '"' if was_quoted else dialect.quote(text)
