"""The MCP server: registers the tools, and turns errors into text with the hint."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations

from carob import __version__
from carob.errors import CarobError
from carob.mcp.tools import FileTools, RunTools

T = TypeVar("T")

INSTRUCTIONS = """\
Carob measures AI agents against golden data, offline. Typical order: `validate` the golden file, \
`traces` to see what was recorded, `run` to score, `case` to see why a case failed, `compare` with \
an earlier run. Answers are short and failures come first; pass `next` as `after` for more. Tools \
that write show the changes first, and write only with write=true."""
_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITE = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def create_server(root: Path | None, store: str | None = None) -> MCPServer[Any]:
    """Create the server of a project folder. Without a folder, it opens no file that a caller
    names: runs and metrics only."""
    server: MCPServer[Any] = MCPServer(
        "carob", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    runs = RunTools(store)
    reading: list[Callable[..., Any]] = [
        *(runs.runs, runs.failures, runs.case, runs.compare, runs.gate, runs.metrics),
    ]
    writing: list[Callable[..., Any]] = []
    server.resource("carob://run/{run}", mime_type="application/json")(
        _explain(runs.read_run, ResourceError)
    )
    if root is not None:
        files = FileTools(root, store)
        reading += [files.validate, files.show, files.traces]
        writing += [files.run, files.capture, files.add_case]
        server.resource("carob://dataset/{name}", mime_type="application/json")(
            _explain(files.read_dataset, ResourceError)
        )
    for functions, hints in ((reading, _READ), (writing, _WRITE)):
        for function in functions:
            server.add_tool(_explain(function, ToolError), annotations=hints)
    return server


def _explain(function: Callable[..., T], kind: type[Exception]) -> Callable[..., T]:
    """Return the function with Carob's errors as errors that the protocol passes on: the text of
    any other exception would not reach the client."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
        try:
            return function(*args, **kwargs)
        except CarobError as error:
            where = f"{error.where}: " if error.where else ""
            hint = f"\nhint: {error.hint}" if error.hint else ""
            raise kind(f"{where}{error.message}{hint}") from error

    return call
