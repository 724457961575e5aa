"""Read tables: CSV files in any dialect, and sheets of Excel workbooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from carob.files.dialect import TableDialect
from carob.files.opening import open_input
from carob.files.tables import read_csv


def read_records(
    path: Path, dialect: TableDialect, sheet: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The records of a table, the header first, each with the line on which it starts."""
    if sheet is not None:
        from carob.datasets.workbook import read_sheet  # late: few tables are workbooks

        yield from read_sheet(path, sheet)
        return
    with open_input(path, encoding=dialect.encoding) as file:
        yield from read_csv(file.stream, str(path), dialect)
