"""Split the JSON document of a run into the parts that are stored, and join them byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple, overload

import msgspec

from carob.errors import InputError
from carob.files.spool import SpooledSequence
from carob.schema import CaseResult, Run
from carob.schema.base import prepare_type
from carob.schema.codec import RESULTS, BytesCodec
from carob.schema.digest import run_id

_encode = msgspec.json.Encoder().encode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_HINT = "write one with `carob run … --format json -o FILE`"


class RunDocument(NamedTuple):
    """A run as stored: `head` is everything but the cases, `bodies` are the cases."""

    run: Run
    head: bytes
    bodies: Sequence[bytes]


def split_run(run: Run) -> RunDocument:
    """The document of a new run."""
    head = _encode(msgspec.structs.replace(run, cases=()))
    if isinstance(run.cases, SpooledSequence):
        return RunDocument(run, head, run.cases.view(BytesCodec()))
    return RunDocument(run, head, [_encode(case) for case in run.cases])


class DocumentParts(NamedTuple):
    """The bytes of a document."""

    head: bytes
    bodies: Sequence[bytes]

    def decode(self, where: str) -> RunDocument:
        """Decode the run. Raises `InputError` if it is none."""
        try:
            cases = _decode_bodies(self.bodies, where)
            run = msgspec.structs.replace(_decode(self.head), cases=cases)
        except _DECODE_ERRORS as error:
            raise InputError(f"not a run: {error}", where=where, hint=_HINT) from error
        return RunDocument(run, *self)


def _decode_bodies(bodies: Sequence[bytes], where: str) -> Sequence[CaseResult]:
    if isinstance(bodies, SpooledSequence):
        return bodies.view(_CheckedResults(where))
    return tuple(map(RESULTS.decode, bodies))


class _CheckedResults:
    """Decodes results while they are iterated, long after the run was found."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.encode = RESULTS.encode

    def decode(self, data: bytes, /) -> CaseResult:
        try:
            return RESULTS.decode(data)
        except _DECODE_ERRORS as error:
            raise InputError(f"not a run: {error}", where=self._where, hint=_HINT) from error


def parse_document(data: bytes, where: str) -> RunDocument:
    """Parse the document of a run, keeping its bytes. Raises `InputError` if the id does not match
    the content."""
    run = decode_run(data, where)
    # The parts stay raw, because the run id is derived from their exact bytes: decoding and
    # encoding them again could write 1 as 1.0, or drop unknown keys.
    try:
        if not data.isascii():  # the decoder does not look into values of fields that it skips
            data.decode()
        fields = _fields.decode(msgspec.json.format(data, indent=-1))
    except RecursionError as error:
        raise InputError("nested too deeply", where=where) from error
    except _DECODE_ERRORS as error:
        raise InputError(f"not a run: {error}", where=where, hint=_HINT) from error
    bodies = [bytes(body) for body in _raws.decode(fields["cases"])]
    document = RunDocument(run, _join_fields(fields, b"[]"), bodies)
    check_run_id(document, where)
    return document


def check_run_id(document: RunDocument, where: str) -> None:
    """Raise `InputError` if the id of a run does not match its content."""
    stated, derived = document.run.id, derive_run_id(document.head, document.bodies)
    if derived != stated:
        message = f"the id is {stated}, but the content has the id {derived}"
        raise InputError(message, where=where, hint="the file was edited; use it as Carob wrote it")


def decode_run(data: bytes, where: str) -> Run:
    """Decode a run."""
    try:
        return _decode(data)
    except _DECODE_ERRORS as error:
        raise InputError(f"not a run: {error}", where=where, hint=_HINT) from error


def _decode(data: bytes) -> Run:
    return msgspec.json.decode(data, type=prepare_type(Run))


_DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def join_document(head: bytes, bodies: Iterable[bytes]) -> bytes:
    """Join the parts of a document."""
    return _join_fields(_fields.decode(head), b"[" + b",".join(bodies) + b"]")


def derive_run_id(head: bytes, bodies: Iterable[bytes]) -> str:
    """Derive the run id from the content of a document."""
    fields = _fields.decode(head)
    target = bytes(fields["target"]) if "target" in fields else None
    return run_id(bytes(fields["dataset"]), bytes(fields["metrics"]), bodies, target)


def as_bytes(value: bytes | str) -> bytes:
    """The bytes of a column. In SQLite an edit by hand may have turned them into text."""
    return value if isinstance(value, bytes) else value.encode()


@overload
def column_text(text: str) -> str: ...
@overload
def column_text(text: str | None) -> str | None: ...
def column_text(text: str | None) -> str | None:
    """A text for a column. PostgreSQL rejects NUL in text; the body keeps it."""
    return text.replace("\0", "\ufffd") if text and "\0" in text else text


def chain_digest(before: bytes, part: bytes) -> bytes:
    """The digest of a part and, through `before`, of all parts before it."""
    return blake2b(before + part, digest_size=16).digest()


def head_digest(head: bytes) -> bytes:
    """The digest of the head of a document."""
    return chain_digest(b"", head)


def creation_time(run: Run, where: str) -> int:
    """The creation time of a run in microseconds since 1970."""
    try:
        return microseconds(datetime.fromisoformat(run.created_at))
    except (ValueError, OverflowError) as error:
        message = f"created_at is {run.created_at!r}, expected a time such as 2026-03-01T12:30:00Z"
        raise InputError(message, where=f"{where} {run.id}") from error


def microseconds(when: datetime) -> int:
    """Since 1970; a time without a zone is in UTC."""
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _join_fields(fields: Mapping[str, msgspec.Raw], cases: bytes) -> bytes:
    members = [
        _encode(key) + b":" + (cases if key == "cases" else bytes(value))
        for key, value in fields.items()
    ]
    return b"{" + b",".join(members) + b"}"


class StoredScore(msgspec.Struct, frozen=True):
    """The fields of a score that are also stored in columns."""

    metric: str
    status: str
    value: float | None = None
    threshold: float | None = None


class StoredResult(msgspec.Struct, frozen=True):
    """The fields of a case that are also stored in columns."""

    case: str | None
    trace: str | None
    status: str
    scores: tuple[StoredScore, ...] = ()


decode_result = msgspec.json.Decoder(prepare_type(StoredResult)).decode
