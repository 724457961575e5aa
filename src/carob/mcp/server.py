"""The MCP server: registers the tools, and turns errors into text with the hint."""

from __future__ import annotations

import functools
import inspect
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
_MAX_ERROR = 500
_READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITE = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


class CarobServer(MCPServer[Any]):
    """A server that refuses arguments it does not know: a misspelled one would be ignored, and the
    answer would be to another question."""

    def __init__(self, **settings: Any) -> None:
        super().__init__("carob", **settings)
        self._arguments: dict[str, tuple[str, ...]] = {}

    def register(self, function: Callable[..., Any], hints: ToolAnnotations) -> None:
        """Add a tool."""
        self._arguments[function.__name__] = tuple(inspect.signature(function).parameters)
        self.add_tool(_explain(function, ToolError), annotations=hints)

    async def call_tool(self, name: str, arguments: dict[str, Any], *args: Any, **more: Any) -> Any:
        """Call a tool, if it knows all arguments."""
        known = self._arguments.get(name, tuple(arguments))
        unknown = [key for key in arguments if key not in known]
        if unknown:
            expected = ", ".join(known)
            raise ToolError(f"unknown argument {unknown[0]!r}\nhint: expected one of: {expected}")
        return await super().call_tool(name, arguments, *args, **more)


def create_server(root: Path | None, store: str | None = None) -> MCPServer[Any]:
    """Create the server of a project folder. Without a folder, it opens no file that a caller
    names: runs and metrics only."""
    server = CarobServer(
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="CRITICAL",  # what goes wrong is in the answer; stderr is the client's log
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
            server.register(function, hints)
    return server


def _explain(function: Callable[..., T], kind: type[Exception]) -> Callable[..., T]:
    """Return the function with its errors as errors that the protocol passes on: the text of any
    other exception would not reach the client."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
        try:
            return function(*args, **kwargs)
        except CarobError as error:
            where = f"{error.where}: " if error.where else ""
            hint = f"\nhint: {error.hint}" if error.hint else ""
            raise kind(f"{where}{error.message}{hint}") from error
        except Exception as error:  # the protocol would pass on no text at all
            raise kind(f"{type(error).__name__}: {error}"[:_MAX_ERROR]) from error

    return call
