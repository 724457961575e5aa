"""Calibrations in the store and in files. They are derived by the judge that they apply to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from carob.errors import InputError
from carob.schema import Calibration, MetricSpec
from carob.schema.digest import binding_digest, calibration_digest
from carob.store.blobs import blob_addresses, get_blob, put_blob
from carob.store.database import Database

_decoder = msgspec.json.Decoder(Calibration)
_HINT = "write one with `carob calibrate … --format json -o FILE`"


def with_digest(calibration: Calibration) -> Calibration:
    """The calibration with its own digest."""
    return msgspec.structs.replace(
        calibration, digest=calibration_digest(msgspec.json.encode(calibration))
    )


def parse_calibration(data: bytes, where: str) -> Calibration:
    """Parse a calibration. Raises `InputError` if it does not match its digest."""
    try:
        calibration = _decoder.decode(data)
        derived = calibration_digest(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not a calibration: {error}", where=where, hint=_HINT) from error
    if calibration.digest != derived:
        message = f"the digest is {calibration.digest!r}, but the content has the digest {derived}"
        hint = "the file was edited; use it as Carob wrote it, or calibrate again"
        raise InputError(message, where=where, hint=hint)
    return calibration


def save_calibration(database: Database, calibration: Calibration) -> None:
    """Save a calibration. When this returns, it is on disk."""
    address = f"{binding_digest(calibration.metric)}/{calibration.created_at}/{calibration.digest}"
    with database.writing():
        put_blob(database, "calibration", address, msgspec.json.encode(calibration))


def stored_calibrations(database: Database, spec: MetricSpec) -> list[Calibration]:
    """The calibrations of this judge, newest first. If there are none, the newest of each other
    configuration of the metric, so that a gate can say what changed."""
    known = sorted(blob_addresses(database, "calibration"), reverse=True)
    binding = binding_digest(spec)
    own = [one for one in known if one.startswith(f"{binding}/")]
    if own:
        return [*_read(database, own)]
    newest = [next(group) for _, group in groupby(known, key=lambda one: one.partition("/")[0])]
    others = [one for one in _read(database, newest) if one.metric.name == spec.name]
    return sorted(others, key=lambda one: one.created_at, reverse=True)


def _read(database: Database, known: list[str]) -> Iterator[Calibration]:
    for address in known:
        body = get_blob(database, "calibration", address)
        if body is not None:
            yield parse_calibration(body, f"{database.where} calibration {address}")
