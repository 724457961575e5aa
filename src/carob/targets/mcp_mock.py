"""A mock MCP server: the tools that golden data names, answered with the results it records.

Nothing in an agent changes but the address of its MCP server. Imported only with the extra `mcp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

from carob import __version__
from carob.schema import Json
from carob.targets.mocks import MissingMockError, ToolMocks


def create_mock_server(tools: Sequence[dict[str, Json]], mocks: ToolMocks) -> Server[Any]:
    """Create a server with these tools. A call without a recorded result is a tool error."""
    listed = [
        Tool(
            name=str(tool["name"]),
            description=str(tool.get("description") or ""),
            input_schema=_schema(tool.get("parameters")),
        )
        for tool in tools
    ]

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(_context: object, params: Any) -> CallToolResult:
        try:
            result = await mocks.answer(params.name, dict(params.arguments or {}))
        except MissingMockError as error:
            return _result(str(error), is_error=True)
        if result is None or result.error is not None:
            return _result(result.error if result else "no such tool", is_error=True)
        return _result(result.result, is_error=False)

    return Server(
        "carob-mocks", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _schema(parameters: Json) -> dict[str, Any]:
    return parameters if isinstance(parameters, dict) else {"type": "object"}


def _result(value: Json, *, is_error: bool) -> CallToolResult:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    structured = value if isinstance(value, dict) and not is_error else None
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=structured,
        is_error=is_error,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until it leaves."""

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def serve_http(server: Server[Any], port: int) -> None:
    """Serve clients of this machine at `/mcp` until the process is stopped."""
    import uvicorn  # late: stdio does without it

    app = server.streamable_http_app(host="127.0.0.1")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
