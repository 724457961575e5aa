"""`carob mocks`: the tools of golden data through a real client of the MCP SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

CAROB = [sys.executable, "-c", "from carob.cli import main; main()"]
MOCKS = [
    {"tool": "get_order", "args": {"order_id": "12"}, "result": {"status": "shipped"}},
    {"tool": "get_order", "args": {"order_id": "13"}, "error": "no such order"},
    {"tool": "open_hours", "result": "10 to 16"},
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("golden.json").write_text(json.dumps([{"input": "hi", "expected_output": "hello"}]))
    Path("tools.jsonl").write_text("\n".join(map(json.dumps, MOCKS)))


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_client_lists_and_calls_recorded_tools():
    async def talk() -> None:
        parameters = StdioServerParameters(
            command=CAROB[0],
            args=[*CAROB[1:], "mocks", "golden.json", "--mocks", "tools.jsonl"],
            env={**os.environ},
        )
        async with Client(stdio_client(parameters)) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["get_order", "open_hours"]
            assert tools[0].input_schema["properties"] == {"order_id": {"type": "string"}}
            shipped = await client.call_tool("get_order", {"order_id": "12"})
            assert (shipped.is_error, json.loads(text(shipped))) == (False, {"status": "shipped"})
            unknown = await client.call_tool("get_order", {"order_id": "13"})
            assert (unknown.is_error, text(unknown)) == (True, "no such order")
            missed = await client.call_tool("get_order", {"order_id": "99"})
            assert missed.is_error
            assert text(missed) == 'no recorded result for get_order({"order_id":"99"})'
            assert text(await client.call_tool("open_hours", {"day": "Sat"})) == "10 to 16"

    anyio.run(talk)


def test_golden_data_without_results_is_refused():
    command = [*CAROB, "mocks", "golden.json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "no tool results are recorded" in ended.stderr
    assert "--record FILE" in ended.stderr
