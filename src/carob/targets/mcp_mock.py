"""A mock MCP server: the tools that golden data names, answered with the results it records.

Nothing in an agent changes but the address of its MCP server. Imported only with the extra `mcp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

from carob import __version__
from carob.schema import Json
from carob.targets.mcp_upstream import ResultFile, Upstream, connect_upstream
from carob.targets.mocks import MissingMockError, ToolMocks


def create_mock_server(
    tools: Sequence[dict[str, Json]], mocks: ToolMocks, upstream: Upstream | None = None
) -> Server[Any]:
    """Create a server with these tools, and those of the real server if there is one. A call
    without a recorded result is answered there, or else a tool error."""
    listed = [
        Tool(
            name=str(tool["name"]),
            description=str(tool.get("description") or ""),
            input_schema=_schema(tool.get("parameters")),
        )
        for tool in tools
    ]

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        # A recorded result need not have the output schema that the real tool declares.
        real = {
            tool.name: tool.model_copy(update={"output_schema": None}) if mocks.recorded else tool
            for tool in (await upstream.list_tools() if upstream else ())
        }
        named = [tool for tool in listed if tool.name not in real]
        return ListToolsResult(tools=[*real.values(), *named])

    async def call_tool(_context: object, params: Any) -> CallToolResult:
        args = dict(params.arguments or {})
        try:
            result = await mocks.answer(params.name, args)
        except MissingMockError as error:
            return _result(str(error), is_error=True)
        if result is None and upstream:
            return await upstream.call_tool(params.name, args)
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


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until it leaves."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def serve_http(server: Server[Any], port: int) -> None:
    """Serve clients of this machine at `/mcp` until the process is stopped."""
    import uvicorn  # late: stdio does without it

    app = server.streamable_http_app(host="127.0.0.1")
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    await uvicorn.Server(config).serve()


def serve(
    tools: Sequence[dict[str, Json]],
    mocks: ToolMocks,
    *,
    port: int | None,
    upstream: str | None = None,
    record: Path | None = None,
) -> None:
    """Serve tools on stdio, or over HTTP if there is a port, in front of a real server if one is
    named. What that one answers is added to the file `record`."""

    async def run(real: Upstream | None) -> None:
        server = create_mock_server(tools, mocks, real)
        await (serve_stdio(server) if port is None else serve_http(server, port))

    async def connect() -> None:
        if upstream is None:
            await run(None)
            return
        results = ResultFile(record) if record else None
        async with connect_upstream(upstream, results) as real:
            await real.list_tools()  # a server that has none is an error now, not at the first call
            await run(real)

    anyio.run(connect)
