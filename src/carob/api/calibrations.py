"""Use-cases of calibrations that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carob.api.keeping import store_place
from carob.errors import InputError
from carob.schema import Calibration, GateRules, MetricUse
from carob.store import is_there, open_store
from carob.store.calibrations import find, keep, of_json

_LIMIT = 64 * 2**20


def find_calibrations(uses: Sequence[MetricUse], rules: GateRules) -> tuple[Calibration, ...]:
    """What is known of the judges of a run: first by the files that the rules name, then by the
    store, each the newest first."""
    files = [_read(Path(path)) for path in rules.calibrations]
    files.sort(key=lambda one: one.created_at, reverse=True)
    place = store_place()
    if not uses or not is_there(place):
        return tuple(files)
    with open_store(place) as database:
        return (*files, *(one for use in uses for one in find(database, use)))


def keep_calibration(made: Calibration, *, store: str | None = None) -> None:
    """Keep a calibration where gates look for it."""
    with open_store(store_place(store), create=True) as database:
        keep(database, made)


def _read(path: Path) -> Calibration:
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(data) > _LIMIT:
        raise InputError(f"larger than {_LIMIT >> 20} MB, no calibration", where=str(path))
    return of_json(data, str(path))
