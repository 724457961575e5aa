"""The dialect of a CSV file: delimiter, encoding and line ends.

Excel writes `;` where a comma is the decimal mark, tabs in UTF-16, and Windows-1252 unless it is
told otherwise. A dialect is detected when a file is opened, and kept when it is written again.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec

from carob.files.opening import UTF8_BOM, InputFile

_LEGACY = "cp1252"
_NAMES = {_LEGACY: "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_BLOCK = 1 << 20

_Cells: TypeAlias = list[str]


class TableDialect(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a table is written. The default is what Carob writes."""

    delimiter: str = ","
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"
    separator_line: str = ""
    """The first line, if it is `sep=;`, which tells Excel the delimiter."""

    def encode(self, lines: Callable[[], Iterable[str]]) -> Iterator[bytes]:
        """The bytes of a file with these lines, part by part."""
        encoding = self.encoding
        if self.bom:
            yield "\ufeff".encode(encoding)
        elif not _can_encode(lines(), encoding):
            # An edit added a character that Windows-1252 does not have.
            encoding = "utf-8"
            yield UTF8_BOM
        if self.separator_line:
            yield (self.separator_line + self.newline).encode(encoding)
        for line in lines():
            yield line.encode(encoding)

    def format_record(self, cells: Iterable[str]) -> str:
        """The line of a row."""
        return self.delimiter.join(map(self.quote, cells)) + self.newline

    def quote(self, text: str) -> str:
        """A cell, quoted if it must be."""
        # Python's csv writer does not quote a lone carriage return, and readers reject that.
        if not any(char in text for char in (self.delimiter, '"', "\r", "\n")):
            return text
        return '"' + text.replace('"', '""') + '"'

    def describe(self) -> str | None:
        """The detected dialect, for a user who expects plain CSV; null if this is plain CSV."""
        parts = [
            f"separated by {_DELIMITERS[self.delimiter]}" if self.delimiter != "," else "",
            f"encoded in {_NAMES[self.encoding]}" if self.encoding in _NAMES else "",
        ]
        return f"detected a table {', '.join(filter(None, parts))}" if any(parts) else None


def _can_encode(lines: Iterable[str], encoding: str) -> bool:
    if encoding != _LEGACY:
        return True
    try:
        for line in lines:
            line.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def is_separator_line(cells: _Cells, dialect: TableDialect) -> bool:
    """Whether the first record of a table is its separator line."""
    return bool(dialect.separator_line) and cells[0].lower().startswith("sep=")


def detect_dialect(file: InputFile) -> TableDialect:
    """Detect the dialect of a table. The file is left at an unknown position."""
    packing = file.packing
    encoding = packing.encoding
    if encoding == "utf-8" and not packing.bom:
        encoding = _detect_encoding(file)
    head = file.head.decode(encoding if encoding == _LEGACY else "utf-8", "replace").lstrip("\r\n")
    first = re.match(r'(?:"(?:[^"]|"")*"|[^"\r\n])*', head)
    line = first[0] if first else ""
    end = re.match(r"\r\n|\r|\n", head[len(line) :])
    separator = _SEPARATOR_LINE.fullmatch(line)
    return TableDialect(
        delimiter=separator[1] if separator and separator[1] in _DELIMITERS else _delimiter(line),
        encoding=encoding,
        bom=bool(packing.bom),
        newline=end[0] if end else "\n",
        separator_line=line if separator else "",
    )


def _delimiter(header: str) -> str:
    """The character that separates most columns; a comma if there is only one column."""
    bare = _QUOTED.sub("", header)
    return max(_DELIMITERS, key=bare.count)


def _detect_encoding(file: InputFile) -> str:
    """Windows-1252 if the first special characters are not UTF-8.

    Text in UTF-8 with one broken byte stays UTF-8: it is an error that names its line.
    """
    file.rewind()
    decoder = codecs.getincrementaldecoder("utf-8")()
    while block := file.stream.read(_BLOCK):
        if block.isascii() and not decoder.getstate()[0]:
            continue
        try:
            if not decoder.decode(block).isascii():
                return "utf-8"
        except UnicodeDecodeError as error:
            valid = bytes(error.object[: error.start])
            return "utf-8" if not valid.isascii() or _UNDEFINED.search(block) else _LEGACY
    return _LEGACY if decoder.getstate()[0] else "utf-8"
