"""Read tables: CSV files in any dialect, and sheets of Excel workbooks."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from carob.datasets.dialect import TableDialect, is_separator_line
from carob.datasets.lines import ROW_LIMIT, at_line, read_lines
from carob.errors import FormatError, InputError
from carob.files.opening import SAVE_AS_UTF8, Stream, open_input


def read_records(
    path: Path, dialect: TableDialect, sheet: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The records of a table, the header first, each with the line on which it starts."""
    if sheet is not None:
        from carob.datasets.workbook import read_sheet  # late: few tables are workbooks

        yield from read_sheet(path, sheet)
        return
    with open_input(path, encoding=dialect.encoding) as file:
        yield from _read_csv(file.stream, str(path), dialect)


def _read_csv(file: Stream, where: str, dialect: TableDialect) -> Iterator[tuple[int, list[str]]]:
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
        where = at_line(where, start)
        raise FormatError(f"not valid CSV: {error}", where=where, hint=hint) from error


def _text_lines(file: Stream, where: str) -> Iterator[str]:
    """The lines of a table as text. Old tools end them with a carriage return alone."""
    for number, line in read_lines(file, where):
        if b"\0" in line:
            raise InputError("a NUL byte in a text file", where=at_line(where, number))
        try:
            yield from (part.decode() for part in line.splitlines(keepends=True))
        except UnicodeDecodeError as error:
            raise InputError(
                "not valid UTF-8", where=at_line(where, number), hint=SAVE_AS_UTF8
            ) from error
