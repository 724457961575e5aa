"""Standard input as a file: readers go back to the start, and several processes read parts."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from carob.errors import InputError
from carob.files.scratch import make_scratch_folder, remove_folder

NAME = "stdin"
"""The name of the file, and thus of a dataset that is read from it."""


@cache
def stdin_file() -> Path:
    """Copy standard input to a temporary file, once per process."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - closed by the parent
        raise InputError("standard input is closed", where="-")
    import shutil  # late: it loads compressors

    folder = make_scratch_folder()
    atexit.register(remove_folder, folder)
    path = folder / NAME
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def is_stdin(paths: Iterable[Path]) -> bool:
    """Whether standard input is one of the paths."""
    return bool(stdin_file.cache_info().currsize) and stdin_file() in paths


def hide_copy(text: str) -> str:
    """The text with `stdin` instead of the path of the copy."""
    if not stdin_file.cache_info().currsize:
        return text
    return text.replace(str(stdin_file()), NAME)
