"""Fingerprints of golden data, which depend on content and not on the file format; and of runs and
calibrations, which depend on the exact bytes of their JSON."""

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
_BATCH = 1000
"""Results that are hashed at once."""


def case_digest(case: Case) -> str:
    """The fingerprint of one case without its source document."""
    return "sha256:" + sha256(_encode(msgspec.structs.replace(case, origin=None))).hexdigest()


def expectation_digest(case: Case) -> str:
    """The fingerprint of question and expectations: a new tag, a date or another recorded answer in
    the same row does not make scores incomparable."""
    return case_digest(
        msgspec.structs.replace(case, recorded=None, tags=(), created_at=None, updated_at=None)
    )


def dataset_digest(dataset: Dataset) -> str:
    """The fingerprint of a dataset: its header and its cases in order. The version is left out,
    because a release must have the digest of the draft that it was made from."""
    header = msgspec.structs.replace(dataset, cases=(), origin=None, version=None)
    digest = sha256(_encode(header))
    for case in dataset.cases:
        digest.update(case_digest(case).encode())
    return "sha256:" + digest.hexdigest()


def run_id(
    dataset: bytes, metrics: bytes, cases: Iterable[bytes], target: bytes | None = None
) -> str:
    """The id of a run, from the JSON of its inputs and outcomes, and of its live agent if it has
    one."""
    # The bytes that are hashed are those of one JSON list, but they are never joined as a whole:
    # the results of a large run would be in memory twice.
    digest = blake2b(b"[" + dataset + b"," + metrics + b",[", digest_size=8)
    bodies = iter(cases)
    digest.update(b",".join(islice(bodies, _BATCH)))
    while batch := b",".join(islice(bodies, _BATCH)):
        digest.update(b"," + batch)
    digest.update(b"]]" if target is None else b"]," + target + b"]")
    return f"run-{digest.hexdigest()}"


def labels_digest(labels: Iterable[Label]) -> str:
    """The fingerprint of labels, independent of their order and file format."""
    lines = sorted(_encode(msgspec.structs.replace(label, where="")) for label in labels)
    return "sha256:" + sha256(b"\n".join(lines)).hexdigest()


def binding_digest(spec: MetricSpec) -> str:
    """The fingerprint of the judge that a calibration is valid for."""
    # The threshold is left out: it does not change how the judge scores.
    bound = [spec.name, spec.version, spec.params, spec.judge or None]
    return "sha256:" + sha256(_encode(bound)).hexdigest()


def calibration_digest(document: bytes) -> str:
    """The fingerprint of the JSON of a calibration without its digest field."""
    # The fields stay raw, so that the digest covers what the file says and not what this version
    # understands of it; only white space may differ.
    fields = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    fields.pop("digest", None)
    compact = msgspec.json.format(msgspec.json.encode(fields), indent=-1)
    return "sha256:" + sha256(compact).hexdigest()
