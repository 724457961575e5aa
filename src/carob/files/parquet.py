"""Read Parquet files, row by row as JSON lines (extra `parquet`)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from carob.errors import FormatError, InputError, install_hint

_MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    """Whether the file begins like a Parquet file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:  # whoever opens it next says why
        return False


def read_parquet_lines(path: Path) -> Iterator[bytes]:
    """The rows of a Parquet file as JSON objects, without nulls. Times are ISO 8601."""
    _check_end(path)
    try:
        reader: Any = import_module("arro3.io")  # late: an optional package
    except ImportError as error:
        hint = install_hint("parquet")
        raise InputError("reading Parquet needs arro3-io", where=str(path), hint=hint) from error
    try:
        for batch in reader.read_parquet(os.fspath(path)):
            rows = io.BytesIO()
            reader.write_ndjson(batch, rows)
            yield from rows.getvalue().splitlines()
    except Exception as error:
        raise _damage_error(path, error) from error
    except BaseException as error:
        # Its Rust code panics on some damaged files, and a panic is not an `Exception`.
        if type(error).__name__ != "PanicException":
            raise
        raise _damage_error(path, error) from error


def _check_end(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(-min(len(_MAGIC), path.stat().st_size), io.SEEK_END)
        if file.read() != _MAGIC:
            raise FormatError("truncated Parquet file", where=str(path))


def _damage_error(path: Path, error: BaseException) -> FormatError:
    return FormatError(f"damaged Parquet file: {error}"[:300], where=str(path))
