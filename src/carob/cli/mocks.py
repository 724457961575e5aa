"""The command that offers recorded tool results over MCP."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from carob import api
from carob.cli.options import INPUT, command, option


@command(
    "carob mocks golden.json --mocks tools.jsonl --transport http",
    "carob mocks --upstream http://127.0.0.1:8000/mcp --record tools.jsonl",
)
@click.argument("golden", type=INPUT, required=False)
@option(
    "--mocks",
    default="golden",
    show_default=True,
    metavar="golden|FILE",
    help="Recorded results: those of the golden data, or a file of --record.",
)
@option(
    "--on-miss",
    type=click.Choice(["error", "by-name", "live"]),
    show_default="live with --upstream, else error",
    help="What a call without a recorded result gets.",
)
@option(
    "--upstream",
    metavar="URL|COMMAND",
    help="Real MCP server, which answers calls without a recorded result.",
)
@option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add what the real server answers to a file for --mocks.",
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
    golden: Path | None,
    mocks: str,
    on_miss: Literal["error", "by-name", "live"] | None,
    upstream: str | None,
    record: Path | None,
    transport: Literal["stdio", "http"],
    port: int,
) -> None:
    """Offer the tools of golden data over MCP.

    Calls get the recorded results, so that any agent with MCP tools can be tested without
    its real tools. In front of a real server, results can be recorded. HTTP answers on this
    machine only, at /mcp.
    """
    api.mocks.serve_mocks(
        golden,
        mocks=mocks,
        on_miss=on_miss or ("live" if upstream else "error"),
        port=None if transport == "stdio" else port,
        upstream=upstream,
        record=record,
    )
