"""The real MCP server behind a mock one: calls without a recorded result go there, and what it
answers is recorded. Imported only with the extra `mcp`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent, Tool

from carob.errors import InputError, UsageError
from carob.schema import Json
from carob.targets.mocks import MockedResult

_MAX_PAGES = 100


class ResultFile:
    """A file for `--mocks`, to which each result is added at once. Agents often start a server for
    each conversation, so that several may write to it; a line that it has is not repeated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._lines = set(path.read_bytes().splitlines()) if path.exists() else set[bytes]()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error

    def add(self, result: MockedResult) -> None:
        """Append a result."""
        line = msgspec.json.encode(result)
        if line in self._lines:
            return
        self._lines.add(line)
        with self._path.open("ab", buffering=0) as file:  # one write: others append as well
            file.write(line + b"\n")


class Upstream:
    """A client session with the real server."""

    def __init__(self, client: Client, record: ResultFile | None) -> None:
        self._client, self._record = client, record

    async def list_tools(self) -> list[Tool]:
        """Return all tools of the server."""
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return tools

    async def call_tool(self, name: str, args: dict[str, Any]) -> CallToolResult:
        """Call a tool of the server, and record what it answers. A server that refuses the call is
        a tool error too: the agent gets it in both cases."""
        try:
            result = await self._client.call_tool(name, args)
        except MCPError as error:
            text = TextContent(type="text", text=str(error))
            result = CallToolResult(content=[text], is_error=True)
        if self._record:
            recorded = _as_mock(name, args, result)
            if recorded is None:
                note = f"not recorded: the result of {name} is not text"
                print(note, file=sys.stderr, flush=True)  # noqa: T201 - stdout is the protocol's
            else:
                self._record.add(recorded)
        return result


def _as_mock(name: str, args: dict[str, Any], result: CallToolResult) -> MockedResult | None:
    """Return a result that gives the agent the same text; `None` for images and the like."""
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    if len(texts) < len(result.content):
        return None
    text = "\n".join(texts)
    if result.is_error:
        return MockedResult(tool=name, args=args, error=text)
    structured: Json = result.structured_content
    try:
        same = msgspec.json.decode(text) == structured
    except msgspec.DecodeError:
        same = False
    return MockedResult(tool=name, args=args, result=structured if same or not text else text)


@asynccontextmanager
async def connect_upstream(server: str, record: ResultFile | None) -> AsyncGenerator[Upstream]:
    """Open a session with a server: an `http://` or `https://` URL, or a command. Raises
    `UsageError` if it does not answer."""
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(Client(_parameters(server)))
        except Exception as error:  # each transport has errors of its own
            hint = "expected a URL such as http://127.0.0.1:8000/mcp, or a command"
            message = f"the MCP server does not answer: {_innermost(error)}"
            raise UsageError(message, hint=hint) from error
        yield Upstream(client, record)


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _parameters(server: str) -> StdioServerParameters | str:
    if server.startswith(("http://", "https://")):
        return server
    try:
        words = shlex.split(server)
    except ValueError as error:
        raise UsageError(f"invalid command {server!r}: {error}") from error
    if not words:
        raise UsageError("empty command of the MCP server")
    # The user starts this server as usual: without the variables with its keys it would not work.
    return StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
