"""The OTLP/HTTP receiver: `/v1/traces`, `/v1/logs` and, politely, `/v1/metrics`.

A request is checked by decoding it, handed over as it came, and answered when it is on disk. Bad
data is the sender's fault (400, not to be sent again); a full disk is ours (503, to be sent again).
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from carob.api.serving.ingest import Acceptance, Encoding, Ingest, count_data_points
from carob.errors import CarobError, FormatError
from carob.server.binding import check_role
from carob.server.problems import RequestError
from carob.server.protobuf import (
    Details,
    bytes_field,
    encode_status,
    status_document,
    varint_field,
)
from carob.server.uploads import receive_body

LIMIT = 64 << 20
"""Bytes of a request, before and after inflating."""
_MAX_MEMBERS = 32
RETRY_SECONDS = 5
_LARGE = 64 << 10
"""Bytes of a request that are decoded in a thread, so that other requests need not wait."""
_TYPES: dict[str, Encoding] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_REASONS = {
    "traces": "invalid trace or span id",
    "logs": "no valid trace id: log records are stored with their trace only",
    "metrics": "metrics are not stored",
}
"""Why records of each signal are refused."""
INVALID_ARGUMENT = 3
_PERMISSION_DENIED = 7
_RESOURCE_EXHAUSTED = 8
UNAVAILABLE = 14
_UNAUTHENTICATED = 16
_CODES = {401: _UNAUTHENTICATED, 403: _PERMISSION_DENIED, 413: _RESOURCE_EXHAUSTED}


class Refusal(Exception):  # noqa: N818 - not an error of ours
    """A request that is answered with a status."""

    def __init__(self, status: int, code: int, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field

    @property
    def retry_seconds(self) -> int | None:
        """How long the sender should wait, if the request is worth sending again."""
        return RETRY_SECONDS if self.status == 503 else None


class Receipt(NamedTuple):
    """How many records of a request were refused."""

    rejected: int
    reason: str = ""


def otlp_routes(ingest: Ingest) -> list[Route]:
    """Return the routes of the receiver."""

    def route(signal: str, field: str) -> Route:
        async def export(request: Request) -> Response:
            return await _export(request, ingest, signal, field)

        return Route(f"/v1/{signal}", export, methods=["POST"], name=f"otlp_{signal}")

    return [
        route("traces", "rejectedSpans"),
        route("logs", "rejectedLogRecords"),
        route("metrics", "rejectedDataPoints"),
    ]


async def _export(request: Request, ingest: Ingest, signal: str, field: str) -> Response:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = _TYPES.get(kind)
    if encoding is None:
        return Response(f"unsupported content type {kind!r}\n", 415, media_type="text/plain")
    try:
        check_role(request, "ingest")
        receipt = await _receive(request, ingest, signal, encoding)
    except RequestError as error:
        code = _CODES.get(error.status, INVALID_ARGUMENT)
        return _status(Refusal(error.status, code, error.detail), encoding, error.headers)
    except Refusal as refusal:
        return _status(refusal, encoding)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody reads it
    return _success(receipt, field, encoding)


async def _receive(request: Request, ingest: Ingest, signal: str, encoding: Encoding) -> Receipt:
    raw = await receive_body(request, LIMIT)
    packing = request.headers.get("content-encoding", "").strip().lower()
    if packing in ("", "identity"):
        packing, body = "", raw
    elif packing == "gzip":
        body = inflate(raw) if len(raw) < _LARGE >> 3 else await asyncio.to_thread(inflate, raw)
    else:
        raise Refusal(415, INVALID_ARGUMENT, f"unsupported content encoding {packing!r}")
    return await receive(ingest, signal, body, encoding, gzipped=raw if packing else None)


async def receive(
    ingest: Ingest, signal: str, body: bytes, encoding: Encoding, *, gzipped: bytes | None = None
) -> Receipt:
    """Check a request and wait until it is on disk."""
    check = partial(_accept, ingest, signal, body, encoding, gzipped)
    accepted = check() if len(body) < _LARGE else await asyncio.to_thread(check)
    if accepted.stored:
        try:
            await asyncio.wrap_future(accepted.stored)
        except CarobError as error:  # a full disk
            raise Refusal(503, UNAVAILABLE, error.message) from error
    if not accepted.rejected:
        return Receipt(0)
    return Receipt(accepted.rejected, _REASONS[signal])


def _accept(
    ingest: Ingest, signal: str, body: bytes, encoding: Encoding, gzipped: bytes | None
) -> Acceptance:
    try:
        if signal == "metrics":
            return Acceptance(None, count_data_points(body, encoding))
        kind = "traces" if signal == "traces" else "logs"
        return ingest.accept(body, kind, encoding, gzipped=gzipped)
    except FormatError as error:
        raise Refusal(400, INVALID_ARGUMENT, error.message, field="body") from error
    except CarobError as error:  # too much waits for the disk, or the server is stopping
        raise Refusal(503, UNAVAILABLE, error.message) from error


def inflate(raw: bytes) -> bytes:
    """Decompress gzip, within the limits."""
    parts: list[bytes] = []
    size = 0
    for _ in range(_MAX_MEMBERS):
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            part = member.decompress(raw, LIMIT - size + 1)
        except zlib.error as error:
            raise Refusal(
                400, INVALID_ARGUMENT, f"not valid gzip: {error}", field="body"
            ) from error
        size += len(part)
        if size > LIMIT:
            raise Refusal(413, _RESOURCE_EXHAUSTED, f"larger than {LIMIT >> 20} MiB")
        parts.append(part)
        if not member.eof:
            raise Refusal(400, INVALID_ARGUMENT, "not valid gzip: incomplete", field="body")
        raw = member.unused_data
        if not raw:
            return b"".join(parts)
    raise Refusal(400, INVALID_ARGUMENT, f"more than {_MAX_MEMBERS} gzip members", field="body")


def _success(receipt: Receipt, field: str, encoding: Encoding) -> Response:
    if encoding == "protobuf":
        return Response(encode_receipt(receipt), media_type="application/x-protobuf")
    partial = {field: str(receipt.rejected), "errorMessage": receipt.reason}
    body = msgspec.json.encode({"partialSuccess": partial} if receipt.reason else {})
    return Response(body, media_type="application/json")


def encode_receipt(receipt: Receipt) -> bytes:
    """Return the response of an export as protobuf; the three signals have the same fields."""
    if not receipt.reason:
        return b""
    inner = varint_field(1, receipt.rejected) + bytes_field(2, receipt.reason.encode())
    return bytes_field(1, inner)


def _status(
    refusal: Refusal, encoding: Encoding, headers: Mapping[str, str] | None = None
) -> Response:
    """A `google.rpc.Status` in the type of the request."""
    headers = dict(headers or {})
    details: Details = {"field": refusal.field, "retry_seconds": refusal.retry_seconds}
    if refusal.retry_seconds is not None:
        headers["Retry-After"] = str(refusal.retry_seconds)
    if encoding == "json":
        body = msgspec.json.encode(status_document(refusal.code, refusal.message, **details))
        return Response(body, refusal.status, headers, media_type="application/json")
    body = encode_status(refusal.code, refusal.message, **details)
    return Response(body, refusal.status, headers, media_type="application/x-protobuf")
