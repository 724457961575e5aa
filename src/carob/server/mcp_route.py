"""Tools for coding agents at `/mcp`: runs and metrics, no files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from carob.errors import install_hint
from carob.server.binding import check_role
from carob.server.problems import RequestError, problem_response

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


def mcp_route(store: str) -> Route:
    """Return the route of the tools, which read the runs of a store."""
    return Route("/mcp", _McpEndpoint(store), methods=["GET", "POST", "DELETE"])


class _McpEndpoint:
    """Starts with the first request: the SDK takes longer to import than the whole server, and more
    memory."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check_role(Request(scope), "read")
            async with self._lock:
                manager = self._manager or await self._start()
        except RequestError as error:
            await problem_response(error)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _start(self) -> StreamableHTTPSessionManager:
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from carob.mcp.server import create_server
        except ModuleNotFoundError as error:
            detail = f"the tools require the package {error.name!r}, which is not installed"
            raise RequestError(501, detail, hint=install_hint("mcp")) from error
        server = create_server(None, self._store)
        # Hosts and origins are checked before any route. Without sessions, a restart ends none.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(
            stateless_http=True, json_response=True, transport_security=unchecked
        )
        manager, ready = server.session_manager, asyncio.Event()

        async def run() -> None:
            async with manager.run():
                ready.set()
                await asyncio.Event().wait()  # until the loop cancels what is left

        self._running = asyncio.create_task(run())
        await ready.wait()
        self._manager = manager
        return manager
