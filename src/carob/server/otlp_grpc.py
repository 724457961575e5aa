"""The OTLP/gRPC receiver. Needs the extra `grpc`.

The service is registered by its method names, and gets the raw bytes of a request: they are stored
as they came, so that nothing is decoded twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import grpc
from grpc import aio

from carob.api.serving.ingest import Ingest
from carob.errors import UsageError
from carob.server.otlp import LIMIT, Receipt, Refusal, encode_receipt, receive
from carob.server.protobuf import encode_status
from carob.server.security import FindRoles

_PREFIX = "/opentelemetry.proto.collector"
_METHODS = {
    f"{_PREFIX}.trace.v1.TraceService/Export": "traces",
    f"{_PREFIX}.logs.v1.LogsService/Export": "logs",
    f"{_PREFIX}.metrics.v1.MetricsService/Export": "metrics",
}
_CODES = {400: grpc.StatusCode.INVALID_ARGUMENT, 503: grpc.StatusCode.UNAVAILABLE}
_OPTIONS = [
    ("grpc.max_receive_message_length", LIMIT),
    ("grpc.so_reuseport", 0),
]


class GrpcReceiver:
    """The receiver on a host and port; port 0 is any free one."""

    def __init__(self, ingest: Ingest, host: str, port: int, find_roles: FindRoles | None) -> None:
        self._ingest, self._find_roles = ingest, find_roles
        self._host, self._port = f"[{host}]" if ":" in host else host, port
        self._server: aio.Server | None = None

    async def start(self) -> str:
        """Start to listen, and return the address."""
        self._server = aio.server(options=_OPTIONS)
        self._server.add_generic_rpc_handlers((_Exports(self._ingest, self._find_roles),))
        try:
            port = self._server.add_insecure_port(f"{self._host}:{self._port}")
        except RuntimeError as error:
            message = f"cannot listen on {self._host} port {self._port}"
            raise UsageError(message, hint="choose another port; 0 takes a free one") from error
        await self._server.start()
        return f"{self._host}:{port}"

    async def stop(self, grace: float) -> None:
        """Finish the calls that are being answered, and stop."""
        if self._server:
            await self._server.stop(grace)


class _Exports(grpc.GenericRpcHandler):
    """Finds the handler of a method."""

    def __init__(self, ingest: Ingest, find_roles: FindRoles | None) -> None:
        self._ingest, self._find_roles = ingest, find_roles

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        signal = _METHODS.get(handler_call_details.method)
        if signal is None:
            return None
        return cast("Any", grpc).unary_unary_rpc_method_handler(self._export(signal))

    def _export(self, signal: str) -> Callable[[bytes, Any], Awaitable[bytes]]:
        async def export(body: bytes, context: Any) -> bytes:
            await self._check_role(context)
            try:
                receipt: Receipt = await receive(self._ingest, signal, body, "protobuf")
            except Refusal as refusal:
                await _abort(context, refusal)
                return b""
            return encode_receipt(receipt)

        return export

    async def _check_role(self, context: Any) -> None:
        if self._find_roles is None:
            return
        metadata: dict[str, object] = dict(context.invocation_metadata() or ())
        kind, _, token = str(metadata.get("authorization", "")).partition(" ")
        roles = self._find_roles(token.strip()) if kind.lower() == "bearer" else frozenset[str]()
        if "ingest" in roles:
            return
        code = grpc.StatusCode.PERMISSION_DENIED if roles else grpc.StatusCode.UNAUTHENTICATED
        await context.abort(code, "a token with the role ingest is required")


async def _abort(context: Any, refusal: Refusal) -> None:
    """End the call with a status; only what is worth sending again names a delay."""
    details = encode_status(
        refusal.code, refusal.message, field=refusal.field, retry_seconds=refusal.retry_seconds
    )
    context.set_trailing_metadata((("grpc-status-details-bin", details),))
    await context.abort(_CODES[refusal.status], refusal.message)
