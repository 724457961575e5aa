"""The tools through a real client of the SDK, over stdio and HTTP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import TextContent, TextResourceContents

DATA = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
CAROB = str(Path(sys.executable).with_name("carob"))
TOOLS = {
    *("runs", "failures", "case", "compare", "gate", "metrics"),
    *("validate", "show", "traces", "run", "capture", "add_case"),
}
GOLDEN = "support.evalset.json"
REGRESSED = "traces/regressed.otlp.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


@asynccontextmanager
async def connect(project: Path) -> AsyncGenerator[Client]:
    parameters = StdioServerParameters(command=CAROB, args=["mcp"], cwd=project, env={**os.environ})
    async with Client(stdio_client(parameters)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert len(json.dumps(result.structured_content)) < 20_000
    return result.structured_content or {}


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_agent_evaluates_explains_and_compares(project: Path):
    async def story() -> None:
        async with connect(project) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            files = await call(client, "validate", paths=[GOLDEN])
            assert files["valid"] is True
            listing = await call(client, "traces", paths=[REGRESSED])
            assert (listing["total"], listing["next"]) == (9, 5)
            good = await call(client, "run", golden=GOLDEN, traces=["traces/good.otlp.jsonl"])
            bad = await call(client, "run", golden=GOLDEN, traces=[REGRESSED])
            assert bad["verdict"] == "failed"
            assert bad["failures"][0]["case"] == "repair_brake"
            again = await call(client, "failures", run="latest")
            assert again["cases"] == bad["cases"]
            assert [item["run"] for item in (good, bad)] == [
                entry["id"] for entry in reversed((await call(client, "runs"))["runs"])
            ]
            case = await call(client, "case", run="latest", case="repair_brake")
            assert case["turns"][2]["actual"]["tool_calls"][0]["name"] == "book_repair"
            comparison = await call(client, "compare", before="latest~1", after="latest")
            assert comparison["verdict"] in ("regressed", "inconclusive")
            gate = await call(client, "gate", run="latest", min_pass_rate=0.9)
            assert gate["passed"] is False
            document = await client.read_resource(f"carob://run/{bad['run']}")
            (content,) = document.contents
            assert isinstance(content, TextResourceContents)
            assert json.loads(content.text)["schema"] == "carob.run/1"

    anyio.run(story)


def test_writing_tools_show_the_change_first(project: Path):
    async def story() -> None:
        async with connect(project) as client:
            before = (project / GOLDEN).read_bytes()
            case = {"golden": GOLDEN, "user": "Do you rent bikes?", "response": "Yes, by the day."}
            shown = await call(client, "add_case", **case)
            assert (shown["written"], (project / GOLDEN).read_bytes()) == (False, before)
            written = await call(client, "add_case", **case, write=True)
            assert written["written"] is True
            assert (await call(client, "show", path=GOLDEN, after=5))["cases"][-1]["turns"] == [
                {"user": "Do you rent bikes?", "response": "Yes, by the day.", "tool_calls": None}
            ]
            arguments = {"traces": [REGRESSED], "golden": "captured.json", "to": "adk"}
            assert (await call(client, "capture", **arguments))["added"] == 9
            assert not (project / "captured.json").exists()
            await call(client, "capture", **arguments, write=True)
            assert (await call(client, "validate", paths=["captured.json"]))["valid"] is True

    anyio.run(story)


def test_errors_reach_the_client_with_their_hint(project: Path):
    async def story() -> None:
        async with connect(project) as client:
            text = await refusal(client, "run", golden=GOLDEN, metrics=["tool_trajectry"])
            assert "unknown metric 'tool_trajectry'" in text
            assert "hint: did you mean" in text
            outside = await refusal(client, "show", path="../../etc/passwd")
            assert "outside of the project folder" in outside
            assert "no store found" in await refusal(client, "case", run="latest", case="x")

    anyio.run(story)


def test_bad_arguments_are_refused_with_a_text(project: Path):
    async def story() -> None:
        async with connect(project) as client:
            misspelled = await refusal(client, "run", golden=GOLDEN, metric=["exact_match"])
            assert misspelled.startswith("unknown argument 'metric'\nhint: expected one of: golden")
            assert "greater than or equal to 0" in await refusal(
                client, "show", path=GOLDEN, after=-3
            )
            assert "too long" in await refusal(client, "validate", paths=["x" * 5000])
            with pytest.raises(MCPError, match=r"'golden\.json' is no release"):
                await client.read_resource("carob://dataset/golden.json")

    anyio.run(story)


def test_http_answers_on_this_machine(project: Path):
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [CAROB, "mcp", "--transport", "http", "--port", str(port)]
    process = subprocess.Popen(command, cwd=project, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)

        async def story() -> None:
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                metrics = await call(client, "metrics", name="tool_trajectory_avg_score")
                assert metrics["metrics"][0]["threshold"] == 1

        anyio.run(story)
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError


def test_agent_cannot_run_code_as_a_metric(project: Path):
    (project / "evil.py").write_text("open('owned', 'w').close()", "utf-8")

    async def steps() -> None:
        async with connect(project) as client:
            for name in ("evil.py:main", "evil.py", "lines:python3 evil.py"):
                text = await refusal(client, "run", golden=GOLDEN, metrics=[name])
                assert "unknown metric" in text

    anyio.run(steps)
    assert not (project / "owned").exists()


def test_rubrics_are_files_of_the_project(project: Path):
    """Errors of a file that is no rubric say what is in it."""
    (project.parent / "keys.yaml").write_text("token: swordfish", "utf-8")
    (project / "tone.yaml").write_text("name: tone", "utf-8")

    async def steps() -> None:
        async with connect(project) as client:
            for name in ("../keys.yaml", str(project.parent / "keys.yaml")):
                text = await refusal(client, "run", golden=GOLDEN, metrics=[name])
                assert "outside of the project folder" in text
            text = await refusal(client, "run", golden=GOLDEN, metrics=["tone.yaml"])
            assert "missing key 'question'" in text

    anyio.run(steps)
