"""The few protobuf messages that receivers answer with, encoded by hand: they have a handful of
fields of two types, not worth making protobuf a dependency of the JSON receiver."""

from __future__ import annotations

from typing import TypedDict

_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


class Details(TypedDict, total=False):
    """The details of a status."""

    field: str | None
    retry_seconds: int | None


def varint_field(number: int, value: int) -> bytes:
    """Encode a field that holds a number."""
    return _varint(number << 3) + _varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Encode a field that holds bytes, a text or a message."""
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def encode_status(
    code: int, message: str, *, field: str | None = None, retry_seconds: int | None = None
) -> bytes:
    """Encode a `google.rpc.Status`, with a `BadRequest` if a field of the request is wrong, and a
    `RetryInfo` if the sender should try again."""
    status = varint_field(1, code) + bytes_field(2, message.encode())
    if field is not None:  # BadRequest { FieldViolation { field, description } }
        violation = bytes_field(1, field.encode()) + bytes_field(2, message.encode())
        status += _detail(_BAD_REQUEST, bytes_field(1, violation))
    if retry_seconds is not None:  # RetryInfo { Duration { seconds } }
        status += _detail(_RETRY_INFO, bytes_field(1, varint_field(1, retry_seconds)))
    return status


def _detail(kind: str, message: bytes) -> bytes:
    """A message as a `google.protobuf.Any` in the details of a status."""
    return bytes_field(3, bytes_field(1, kind.encode()) + bytes_field(2, message))


def status_document(
    code: int, message: str, *, field: str | None = None, retry_seconds: int | None = None
) -> dict[str, object]:
    """Return a `google.rpc.Status` in the JSON mapping of protobuf."""
    details: list[dict[str, object]] = []
    if field is not None:
        violations = [{"field": field, "description": message}]
        details.append({"@type": _BAD_REQUEST, "fieldViolations": violations})
    if retry_seconds is not None:
        details.append({"@type": _RETRY_INFO, "retryDelay": f"{retry_seconds}s"})
    return {"code": code, "message": message, **({"details": details} if details else {})}


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
