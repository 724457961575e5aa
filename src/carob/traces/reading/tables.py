"""Rows of tables as JSON values: CSV in any dialect, and Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from carob.errors import FormatError
from carob.files.dialect import TableDialect, detect_dialect
from carob.files.opening import InputFile, open_input
from carob.files.tables import read_csv
from carob.schema import Json, Problem
from carob.schema.problem import ProblemListener

_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_SIMULATION = frozenset({"session_trace", "user_inputs"})
_COLUMN = re.compile(r"[A-Za-z_][\w.]*")
_JSON = ("{", "[")


def find_table(file: InputFile, path: Path) -> TableDialect | None:
    """The dialect of a table; null for any other file.

    A file with another suffix is a table if its first line is nothing but names, or those of the
    simulation table. Text before JSON lines may have a comma as well, but no table has JSON in its
    second line.
    """
    head = file.head.lstrip(b"\r\n")
    is_named = path.name.lower().endswith(_SUFFIXES)
    if not head or not (is_named or any(mark in head for mark in (b",", b";", b"\t"))):
        return None
    dialect = detect_dialect(file)
    file.rewind()
    text = head.decode("utf-8", "replace").splitlines()
    first, rest = (text[1:] if dialect.separator_line else text)[:1], text[1:2]
    columns = [part.strip(' "\r') for part in (first[0] if first else "").split(dialect.delimiter)]
    if is_named or not _SIMULATION.isdisjoint(columns):
        return dialect
    is_header = len(columns) > 1 and all(map(_COLUMN.fullmatch, columns))
    return dialect if is_header and rest and not rest[0].lstrip().startswith(_JSON) else None


def read_table(path: Path, dialect: TableDialect, report: ProblemListener) -> Iterator[Json]:
    """The rows of a table. An empty cell is null."""
    with open_input(path, tolerant=True, encoding=dialect.encoding) as file:
        records = read_csv(file.stream, str(path), dialect, tolerant=True)
        _, columns = next(records, (1, list[str]()))
        for line, cells in records:
            if len(cells) > len(columns):
                message = f"{len(cells)} cells in a table of {len(columns)} columns"
                where = f"{path} line {line}"
                report(Problem(where=where, message=message, hint=_QUOTE, severity="warning"))
            row = dict(zip(columns, [*cells, *[""] * len(columns)], strict=False))
            yield {name.strip(): cell or None for name, cell in row.items() if name}
    if not columns:
        raise FormatError("empty table", where=str(path))


_QUOTE = "put a cell that contains the delimiter in quotes"
