"""`carob mocks`: the tools of golden data through a real client of the MCP SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent

from carob.api.mocks import collect_tools, serve_mocks
from carob.errors import UsageError
from carob.targets.mcp_mock import create_mock_server
from carob.targets.mcp_upstream import ResultFile, Upstream
from carob.targets.mocks import MockedResult, read_mocks

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


REAL = """
import sys
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("shop")


@server.tool()
def get_order(order_id: str) -> dict[str, object]:
    print(f"asked for {order_id}", file=sys.stderr)
    if order_id == "13":
        raise ToolError("no such order")
    return {"status": "packed", "id": order_id}


@server.tool()
def count_orders() -> int:
    return 3


server.run(*sys.argv[1:])
"""


def client_of(*args: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=CAROB[0], args=[*CAROB[1:], "mocks", *args], env={**os.environ}
    )


@pytest.fixture
def real_server() -> str:
    """The command of a real server."""
    Path("real.py").write_text(REAL)
    return f"{sys.executable} real.py"


def test_results_of_a_real_server_are_recorded_and_replayed(real_server: str):
    recording = ["--upstream", real_server, "--record", "recorded.jsonl"]

    async def talk(server: Any) -> list[tuple[bool, str]]:
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert sorted(tools) == ["count_orders", "get_order"]
            assert "order_id" in tools["get_order"].input_schema["properties"]
            calls: list[tuple[str, dict[str, object]]] = [
                ("get_order", {"order_id": "12"}),
                ("get_order", {"order_id": "13"}),
                ("count_orders", {}),
            ]
            results = [await client.call_tool(*call) for call in calls]
            return [(bool(result.is_error), text(result)) for result in results]

    first = anyio.run(talk, stdio_client(client_of(*recording)))
    lines = Path("recorded.jsonl").read_bytes().splitlines()
    assert json.loads(first[0][1]) == {"status": "packed", "id": "12"}
    assert [error for error, _ in first] == [False, True, False]
    assert "no such order" in first[1][1]
    assert json.loads(lines[0]) == {
        "tool": "get_order",
        "args": {"order_id": "12"},
        "result": {"status": "packed", "id": "12"},
    }
    server = create_mock_server(*collect_tools(None, "recorded.jsonl", "error"))
    replayed = anyio.run(talk, server)
    assert [error for error, _ in replayed] == [False, True, False]
    assert [json.loads(body) for error, body in replayed if not error] == [
        json.loads(body) for error, body in first if not error
    ]
    assert replayed[1] == first[1]


def test_recorded_results_come_before_the_real_server():
    real = MCPServer("shop")

    @real.tool()
    def get_order(order_id: str) -> dict[str, object]:  # pyright: ignore[reportUnusedFunction] - called by the client
        return {"status": "packed", "id": order_id}

    async def talk() -> None:
        tools, mocks = collect_tools(None, "tools.jsonl", "live")
        async with Client(real) as upstream:
            front = Upstream(upstream, ResultFile(Path("new.jsonl")))
            async with Client(create_mock_server(tools, mocks, front)) as client:
                listed = [tool.name for tool in (await client.list_tools()).tools]
                assert listed == ["get_order", "open_hours"]
                known = await client.call_tool("get_order", {"order_id": "12"})
                assert json.loads(text(known)) == {"status": "shipped"}
                live = await client.call_tool("get_order", {"order_id": "77"})
                assert json.loads(text(live))["status"] == "packed"

    anyio.run(talk)
    (line,) = Path("new.jsonl").read_text().splitlines()
    assert json.loads(line)["args"] == {"order_id": "77"}


def test_server_that_does_not_answer_is_an_error():
    command = [*CAROB, "mocks", "--upstream", "http://127.0.0.1:9/mcp", "--record", "x.jsonl"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "the MCP server does not answer" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("options", [{"record": Path("x.jsonl")}, {"on_miss": "live"}])
def test_options_that_need_a_real_server_say_so(options: dict[str, Any]):
    with pytest.raises(UsageError) as caught:
        serve_mocks("golden.json", **options)
    assert caught.value.hint == "name the real MCP server with --upstream"


def test_recorded_results_are_added_once():
    path = Path("new.jsonl")
    hose, rake = MockedResult("t", {"id": 1}, result="x"), MockedResult("t", {"id": 2}, result="y")
    for results in ([hose, hose], [hose, rake]):
        file = ResultFile(path)
        for result in results:
            file.add(result)
    assert read_mocks(path) == [hose, rake]
