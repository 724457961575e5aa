"""Read CSV files in any dialect."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from carob.errors import FormatError, InputError
from carob.files.dialect import TableDialect, is_separator_line
from carob.files.lines import ROW_LIMIT, at_line, read_lines
from carob.files.opening import SAVE_AS_UTF8, Stream


def read_csv(
    file: Stream, where: str, dialect: TableDialect, *, tolerant: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file, the header first, each with the line on which it starts. With
    `tolerant`, broken quotes and characters are read as well as possible."""
    csv.field_size_limit(ROW_LIMIT)
    lines = _text_lines(file, where, "replace" if tolerant else "strict")
    reader = csv.reader(lines, delimiter=dialect.delimiter, strict=not tolerant)
    start = 1
    try:
        for row in reader:
            if row and not (start == 1 and is_separator_line(row, dialect)):
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        hint = "close the quote that opens here, and write a quote in a quoted cell twice"
        where = at_line(where, start)
        raise FormatError(f"not valid CSV: {error}", where=where, hint=hint) from error


def _text_lines(file: Stream, where: str, errors: str) -> Iterator[str]:
    """The lines of a table as text. Old tools end them with a carriage return alone."""
    for number, line in read_lines(file, where):
        if b"\0" in line:
            raise InputError("a NUL byte in a text file", where=at_line(where, number))
        try:
            yield from (part.decode(errors=errors) for part in line.splitlines(keepends=True))
        except UnicodeDecodeError as error:
            raise InputError(
                "not valid UTF-8", where=at_line(where, number), hint=SAVE_AS_UTF8
            ) from error
