"""The side file: what rows and tables, which have no room inside, carry for the way back."""

from __future__ import annotations

from pathlib import Path

import msgspec

from carob.datasets.lens import Carry
from carob.errors import InputError

_LIMIT = 512 * 2**20


class Aside(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What is carried beside a file: for the dataset, and for cases by their ids."""

    dataset: Carry | None = None
    cases: dict[str, Carry] = {}


def aside_path(path: Path) -> Path:
    """The side file of a golden file."""
    return path.with_name(f"{path.name}.carob.json")


def read_aside(path: Path) -> Aside:
    """What is carried beside `path`; nothing if there is no side file."""
    side = aside_path(path)
    try:
        if not side.is_file():
            return Aside()
        if side.stat().st_size > _LIMIT:
            raise InputError(f"more than {_LIMIT >> 20} MiB", where=str(side))
        return msgspec.json.decode(side.read_bytes(), type=Aside)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"what was carried along for the way back is damaged: {error}",
            where=str(side),
            hint=f"delete {side.name} to read {path.name} without it",
        ) from error
