"""Digests of releases: of each file, and of the record as a whole."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from carob.schema import Release

_encode = msgspec.json.Encoder(order="deterministic").encode


def digest(data: bytes) -> str:
    """The digest of a file, with the name of its algorithm."""
    return "sha256:" + sha256(data).hexdigest()


def sealed(record: Release) -> Release:
    """The record under the seal that follows from it."""
    return msgspec.structs.replace(record, seal=_seal(record))


def is_sealed(record: Release) -> bool:
    """Is the record as it was when it was sealed?"""
    return record.seal == _seal(record)


def _seal(record: Release) -> str:
    return digest(_encode(msgspec.structs.replace(record, seal="")))
