"""Read the sheets of an Excel workbook as tables of texts."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carob.datasets.number_format import cell_text
from carob.errors import InputError, UsageError, install_hint

_MAX_SIZE = 512 * 2**20
_MAX_RATIO = 200
"""The text of a sheet compresses about 10 times; a bomb more than a thousand times."""
_SAFE_SIZE = 16 * 2**20
_MAX_COLUMNS = 1000
_CONTENT = "xl/workbook.xml"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A control character in a text."""


def is_workbook(path: Path) -> bool:
    """Whether a file is an Excel workbook."""
    try:
        return zipfile.is_zipfile(path) and _CONTENT in zipfile.ZipFile(path).namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def sheet_names(path: Path) -> tuple[str, ...]:
    """The names of the sheets with cells, in order."""
    with _open_workbook(path) as workbook:
        return tuple(sheet.title for sheet in workbook.worksheets)


def read_sheet(path: Path, name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a sheet with their numbers, without empty rows; the header comes first."""
    with _open_workbook(path) as workbook:
        width = 0
        for number, row in enumerate(workbook[name].iter_rows(max_col=_MAX_COLUMNS), 1):
            cells = [_text(cell) for cell in row]
            while cells and not cells[-1].strip():
                cells.pop()
            if cells:
                width = width or len(cells)
                yield number, cells + [""] * (width - len(cells))


def _text(cell: Any) -> str:
    text = cell_text(cell.value, getattr(cell, "number_format", "General"))
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


@contextmanager
def _open_workbook(path: Path) -> Generator[Any]:
    openpyxl = _import_openpyxl()
    _check_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about charts and validations, which are not read
            workbook: Any = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield workbook
        finally:
            workbook.close()
    except (KeyError, ValueError, TypeError, SyntaxError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"damaged Excel workbook: {error}", where=str(path)) from error


def _check_size(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _MAX_SIZE or size > max(_SAFE_SIZE, _MAX_RATIO * path.stat().st_size):
        raise InputError(
            f"an Excel workbook of {size >> 20} MiB when decompressed",
            where=str(path),
            hint="save the sheet as CSV",
        )


def _import_openpyxl() -> Any:
    try:
        import openpyxl  # late: an extra, and slow to import
    except ImportError as error:
        message = "reading Excel workbooks requires the package 'openpyxl', which is not installed"
        hint = f"{install_hint('excel')}, or save the sheet as CSV"
        raise UsageError(message, hint=hint) from error
    return openpyxl
