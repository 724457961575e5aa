"""The JSON document of a run, in the parts that it is kept in, and together again byte by byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from carob.errors import InputError
from carob.schema import Run
from carob.schema.digest import run_id

_encode = msgspec.json.Encoder().encode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_HINT = "write one with `carob run … --format json -o FILE`"


class Document(NamedTuple):
    """A run as it is kept: `head` has all but the cases, `bodies` has them one by one."""

    run: Run
    head: bytes
    bodies: Sequence[bytes]


def of_run(run: Run) -> Document:
    """The document of a run that was just made."""
    head = _encode(msgspec.structs.replace(run, cases=()))
    return Document(run, head, [_encode(one) for one in run.cases])


def of_json(data: bytes, where: str) -> Document:
    """The document of a run in a file, as it is written there; its numbers must be those that its
    id was made from."""
    run = decoded(data, where)
    try:
        fields = _fields.decode(msgspec.json.format(data, indent=-1))
    except RecursionError as error:
        raise InputError("nested too deeply", where=where) from error
    bodies = [bytes(body) for body in _raws.decode(fields["cases"])]
    found = run_id(bytes(fields["dataset"]), bytes(fields["metrics"]), bodies)
    if found != run.id:
        message = f"the id is {run.id}, its numbers are those of {found}"
        raise InputError(message, where=where, hint="take the file as Carob wrote it")
    return Document(run, _joined(fields, b"[]"), bodies)


def decoded(data: bytes, where: str) -> Run:
    """The run in a JSON document."""
    try:
        return msgspec.json.decode(data, type=Run)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"no run: {error}", where=where, hint=_HINT) from error


def together(head: bytes, bodies: Iterable[bytes]) -> bytes:
    """The whole document."""
    return _joined(_fields.decode(head), b"[" + b",".join(bodies) + b"]")


def head_id(head: bytes, bodies: Iterable[bytes]) -> str:
    """The id that the numbers of a document give."""
    fields = _fields.decode(head)
    return run_id(bytes(fields["dataset"]), bytes(fields["metrics"]), bodies)


def exact(value: bytes | str) -> bytes:
    """Bytes of a column, which somebody with an SQL prompt may have made a text in SQLite."""
    return value if isinstance(value, bytes) else value.encode()


def link(before: bytes, part: bytes) -> bytes:
    """The digest of a part and of all parts before it."""
    return blake2b(before + part, digest_size=16).digest()


def moment(run: Run, where: str) -> int:
    """When the run was made, in microseconds since 1970."""
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


def _joined(fields: Mapping[str, msgspec.Raw], cases: bytes) -> bytes:
    parts = [
        _encode(key) + b":" + (cases if key == "cases" else bytes(value))
        for key, value in fields.items()
    ]
    return b"{" + b",".join(parts) + b"}"


class Numbers(msgspec.Struct, frozen=True):
    metric: str
    status: str
    value: float | None = None
    threshold: float | None = None


class Parts(msgspec.Struct, frozen=True):
    """What the outcomes of a case repeat of its body."""

    case: str | None
    trace: str | None
    status: str
    scores: tuple[Numbers, ...] = ()


parts = msgspec.json.Decoder(Parts).decode
