"""The lines of a file, with a limit: golden files are hostile input."""

from __future__ import annotations

from collections.abc import Iterator

from carob.errors import InputError
from carob.files.opening import Stream

ROW_LIMIT = 64 * 2**20
_BLANK_LIMIT = 1_000_000


def read_lines(file: Stream, where: str) -> Iterator[tuple[int, bytes]]:
    """Every line of a file with its number. Raises if one is too long to hold in memory."""
    number = blank = 0
    while line := file.readline(ROW_LIMIT + 1):
        number += 1
        blank = 0 if line.strip() else blank + 1
        if len(line) > ROW_LIMIT or blank > _BLANK_LIMIT:
            what = f"a line of more than {ROW_LIMIT >> 20} MiB"
            raise InputError(
                f"{_BLANK_LIMIT} blank lines" if blank else what, where=at_line(where, number)
            )
        yield number, line


def lines_with_content(file: Stream, where: str) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in read_lines(file, where) if line.strip())


def at_line(where: str, line: int | None) -> str:
    """The location of a line in a file."""
    return where if line is None else f"{where} line {line}"
