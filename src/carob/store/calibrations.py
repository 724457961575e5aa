"""Calibrations in the store and in files. Their address starts with the digest of the judge that
they apply to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from carob.errors import InputError
from carob.schema import Calibration, MetricSpec
from carob.schema.base import prepare_type
from carob.schema.digest import binding_digest, calibration_digest
from carob.store.blobs import blob_addresses, get_blob, put_blob
from carob.store.database import Database

_decoder = msgspec.json.Decoder(prepare_type(Calibration))
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


def find_calibrations(database: Database, spec: MetricSpec) -> list[Calibration]:
    """The calibrations of this judge, newest first. If there are none, the newest of each other
    configuration of the metric, so that a gate can say what changed."""
    addresses = sorted(blob_addresses(database, "calibration"), reverse=True)
    binding = binding_digest(spec)
    own = [address for address in addresses if address.startswith(f"{binding}/")]
    if own:
        return [*_read(database, own)]
    # The addresses are sorted by judge and then by time, newest first, so the first address of each
    # judge is its newest calibration.
    judges = groupby(addresses, key=lambda address: address.partition("/")[0])
    newest = _read(database, [next(group) for _, group in judges])
    candidates = [calibration for calibration in newest if calibration.metric.name == spec.name]
    return sorted(candidates, key=lambda calibration: calibration.created_at, reverse=True)


def _read(database: Database, addresses: list[str]) -> Iterator[Calibration]:
    for address in addresses:
        body = get_blob(database, "calibration", address)
        if body is not None:
            yield parse_calibration(body, f"{database.where} calibration {address}")
