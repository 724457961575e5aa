"""The command that offers recorded tool results over MCP."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from carob import api
from carob.cli.options import INPUT, command, option


@command("carob mocks golden.json", "carob mocks golden.json --mocks tools.jsonl --transport http")
@click.argument("golden", type=INPUT)
@option(
    "--mocks",
    default="golden",
    show_default=True,
    metavar="golden|FILE",
    help="Recorded results: those of the golden data, or a file of `carob run --record`.",
)
@option(
    "--on-miss",
    type=click.Choice(["error", "by-name"]),
    default="error",
    show_default=True,
    help="What a call without a recorded result gets.",
)
@option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="How the agent connects.",
)
@option("--port", default=8003, show_default=True, metavar="N", help="Port of HTTP.")
def mocks(
    golden: Path,
    mocks: str,
    on_miss: Literal["error", "by-name"],
    transport: Literal["stdio", "http"],
    port: int,
) -> None:
    """Offer the tools of golden data over MCP.

    Calls get the recorded results, so that any agent with MCP tools can be tested without
    its real tools. HTTP answers on this machine only, at /mcp.
    """
    served = None if transport == "stdio" else port
    api.mocks.serve_mocks(golden, mocks=mocks, on_miss=on_miss, port=served)
