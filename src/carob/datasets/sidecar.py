"""The sidecar file of a golden file, such as `faq.csv.carob.json`.

Rows and tables have no room for the data that a conversion preserves for round-tripping.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from carob.datasets.lens import RoundTrip
from carob.errors import InputError
from carob.schema.base import prepare_type

_LIMIT = 512 * 2**20


class Sidecar(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a sidecar file preserves: for the dataset, and for cases by id."""

    dataset: RoundTrip | None = None
    cases: dict[str, RoundTrip] = {}


def sidecar_path(path: Path) -> Path:
    """The path of the sidecar file of a golden file."""
    return path.with_name(f"{path.name}.carob.json")


def read_sidecar(path: Path) -> Sidecar:
    """Read the sidecar file of the golden file `path`; empty if there is none."""
    file = sidecar_path(path)
    try:
        if not file.is_file():
            return Sidecar()
        if file.stat().st_size > _LIMIT:
            raise InputError(f"sidecar file exceeds {_LIMIT >> 20} MiB", where=str(file))
        return msgspec.json.decode(file.read_bytes(), type=prepare_type(Sidecar))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"invalid sidecar file: {error}",
            where=str(file),
            hint=f"delete {file.name} to read {path.name} without it",
        ) from error
