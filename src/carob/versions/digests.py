"""Digests of releases: of each file, and of the record as a whole."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from carob.schema import Release

_encode = msgspec.json.Encoder(order="deterministic").encode


def file_digest(data: bytes) -> str:
    """The digest of a file, with the name of its algorithm."""
    return "sha256:" + sha256(data).hexdigest()


def seal_release(record: Release) -> Release:
    """The record with its seal, the digest of all other fields."""
    return msgspec.structs.replace(record, seal=_compute_seal(record))


def has_valid_seal(record: Release) -> bool:
    """Whether the record is unchanged since it was sealed."""
    return record.seal == _compute_seal(record)


def _compute_seal(record: Release) -> str:
    return file_digest(_encode(msgspec.structs.replace(record, seal="")))
