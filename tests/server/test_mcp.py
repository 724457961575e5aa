"""The tools of a server, through a real client."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import TextContent

from tests.server.conftest import Process, start_server

DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"


def test_runs_of_the_server_are_explained_and_no_file_is_opened(tmp_path: Path):
    started = start_server(tmp_path)
    try:
        make_run(started)

        async def story() -> None:
            async with Client(f"{started.addresses['pages'].rstrip('/')}/mcp") as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                assert tools == {"runs", "failures", "case", "compare", "gate", "metrics"}
                failures = await call(client, "failures", run="latest")
                assert failures["failures"][0]["status"] == "failed"
                again = await call(client, "compare", before="latest", after="latest")
                assert again["verdict"] == "equivalent"
                (tmp_path / "run.json").write_text("{}")
                for name in ("compare", "gate", "failures"):
                    arguments = {"before": "run.json", "after": "run.json", "run": "run.json"}
                    fitting = ("before", "after") if name == "compare" else ("run",)
                    result = await client.call_tool(name, {key: arguments[key] for key in fitting})
                    assert result.is_error
                    (content,) = result.content
                    assert isinstance(content, TextContent)
                    assert "no run" in content.text

        anyio.run(story)
    finally:
        assert started.stop() == 0


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


def make_run(started: Process) -> None:
    api = started.client
    name = api.upload("/api/datasets", DEMO / "support.evalset.json").json()["name"]
    upload = api.upload("/api/traces", DEMO / "traces" / "regressed.otlp.jsonl").json()
    body = {
        "dataset": name,
        "traces": [upload["upload"]["id"]],
        "metrics": ["tool_trajectory_avg_score"],
    }
    kind = {"Content-Type": "application/json"}
    assert api.ask("POST", "/api/runs", json.dumps(body).encode(), kind).status == 202
    for _ in range(200):
        if api.get("/api/runs").json()["items"]:
            return
        time.sleep(0.1)
    pytest.fail("the run was not made")
