"""Use-cases of runs that are over."""

from __future__ import annotations

from pathlib import Path

import msgspec

from karat.errors import InputError
from karat.schema import Run


def find_run(name: str) -> Run:
    """The run in a file that `karat run --format json -o FILE` wrote."""
    path = Path(name)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Run)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=name) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no run: {error}", where=name, hint=_HINT) from error


_HINT = "write one with `karat run … --format json -o FILE`"
