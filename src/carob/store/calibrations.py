"""Calibrations in and out of the store, and in files. One is found by what it is bound to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from carob.errors import InputError
from carob.schema import Calibration, MetricUse
from carob.schema.digest import binding_digest, calibration_digest
from carob.store.database import Database
from carob.store.shelf import addresses, get_bytes, put_bytes

_decoder = msgspec.json.Decoder(Calibration)
_HINT = "write one with `carob calibrate … --format json -o FILE`"


def sealed(made: Calibration) -> Calibration:
    """The calibration with its own digest."""
    return msgspec.structs.replace(made, digest=calibration_digest(msgspec.json.encode(made)))


def of_json(data: bytes, where: str) -> Calibration:
    """The calibration in a JSON document, if it says what it said when it was made."""
    try:
        made = _decoder.decode(data)
        found = calibration_digest(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no calibration: {error}", where=where, hint=_HINT) from error
    if made.digest != found:
        message = f"the digest is {made.digest!r}, its content is that of {found}"
        hint = "it was edited: take it as Carob wrote it, or calibrate again"
        raise InputError(message, where=where, hint=hint)
    return made


def keep(database: Database, made: Calibration) -> None:
    """Keep a calibration. When this returns, it is on disk."""
    address = f"{binding_digest(made.metric)}/{made.created_at}/{made.digest}"
    with database.writing():
        put_bytes(database, "calibration", address, msgspec.json.encode(made))


def find(database: Database, use: MetricUse) -> list[Calibration]:
    """The calibrations that are bound to what was used, the newest first. If there is none, those
    of the metric under other circumstances: of each the newest."""
    known = sorted(addresses(database, "calibration"), reverse=True)
    binding = binding_digest(use)
    own = [one for one in known if one.startswith(f"{binding}/")]
    if own:
        return [*_read(database, own)]
    newest = [next(some) for _, some in groupby(known, key=lambda one: one.partition("/")[0])]
    others = [one for one in _read(database, newest) if one.metric.name == use.name]
    return sorted(others, key=lambda one: one.created_at, reverse=True)


def _read(database: Database, known: list[str]) -> Iterator[Calibration]:
    for address in known:
        body = get_bytes(database, "calibration", address)
        if body is not None:
            yield of_json(body, f"{database.where} calibration {address}")
