"""The fingerprint of golden data: of what it says, not of how a file writes it down. And of runs
and calibrations, of the very bytes of their JSON, so that it can be derived again from what was
written."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b, sha256
from itertools import islice

import msgspec

from carob.schema.calibration import Label
from carob.schema.case import Case
from carob.schema.dataset import Dataset
from carob.schema.run import MetricSpec

_encode = msgspec.json.Encoder(order="deterministic").encode
_TOGETHER = 1000
"""Results that are hashed in one go."""


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
    """The fingerprint of a dataset: of its header and of its cases in their order. The version is
    left out: it says which release the data became, and not what the data says."""
    header = msgspec.structs.replace(dataset, cases=(), origin=None, version=None)
    digest = sha256(_encode(header))
    for case in dataset.cases:
        digest.update(case_digest(case).encode())
    return "sha256:" + digest.hexdigest()


def run_id(dataset: bytes, metrics: bytes, cases: Iterable[bytes]) -> str:
    """The id of a run, by the JSON of what made it and of what came out."""
    digest = blake2b(b"[" + dataset + b"," + metrics + b",[", digest_size=8)
    rest = iter(cases)
    digest.update(b",".join(islice(rest, _TOGETHER)))
    while more := b",".join(islice(rest, _TOGETHER)):
        digest.update(b"," + more)
    digest.update(b"]]")
    return f"run-{digest.hexdigest()}"


def labels_digest(labels: Iterable[Label]) -> str:
    """The fingerprint of what people said, whatever the order and the format of the file."""
    told = sorted(_encode(msgspec.structs.replace(one, where="")) for one in labels)
    return "sha256:" + sha256(b"\n".join(told)).hexdigest()


def binding_digest(use: MetricSpec) -> str:
    """The fingerprint of what a calibration holds for: if any of it moves, it is another judge."""
    bound = [use.name, use.version, use.params, use.judge or None]
    return "sha256:" + sha256(_encode(bound)).hexdigest()


def calibration_digest(document: bytes) -> str:
    """The fingerprint of the JSON of a calibration, without the fingerprint that is in it."""
    fields = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    fields.pop("digest", None)
    told = msgspec.json.format(msgspec.json.encode(fields), indent=-1)
    return "sha256:" + sha256(told).hexdigest()
