"""The fingerprint of golden data: of what it says, not of how a file writes it down."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from karat.schema.case import Case
from karat.schema.dataset import Dataset

_encode = msgspec.json.Encoder(order="deterministic").encode


def case_digest(case: Case) -> str:
    """The fingerprint of one case, without the document it came from."""
    return "sha256:" + sha256(_encode(msgspec.structs.replace(case, origin=None))).hexdigest()


def expectation_digest(case: Case) -> str:
    """The fingerprint of what a case asks and expects: a new tag, a date or another recording in
    the same row does not make its scores incomparable."""
    return case_digest(
        msgspec.structs.replace(case, recording=None, tags=(), created_at=None, updated_at=None)
    )


def dataset_digest(dataset: Dataset) -> str:
    """The fingerprint of a dataset: of its header and of its cases in their order."""
    header = msgspec.structs.replace(dataset, cases=(), origin=None)
    digest = sha256(_encode(header))
    for case in dataset.cases:
        digest.update(case_digest(case).encode())
    return "sha256:" + digest.hexdigest()
