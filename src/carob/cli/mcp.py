"""The command that offers tools to coding agents."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from carob.api.store import store_url
from carob.cli.options import command, option, store_option
from carob.errors import UsageError, install_hint


@command("carob mcp", "carob mcp --transport http --port 8002")
@option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="How clients connect.",
)
@option("--port", default=8002, show_default=True, metavar="N", help="Port of HTTP.")
@store_option
def mcp(transport: Literal["stdio", "http"], port: int, store: str | None) -> None:
    """Offer tools to coding agents over MCP.

    The tools read and write files below the working directory only. HTTP answers on
    this machine only, at /mcp.
    """
    try:
        from carob.mcp.server import create_server  # late: an extra, and slow to import
    except ModuleNotFoundError as error:
        message = f"the MCP server requires the package {error.name!r}, which is not installed"
        raise UsageError(message, hint=install_hint("mcp")) from error
    server = create_server(Path.cwd(), store_url(store))
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)
