from __future__ import annotations

import re
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

from tests.server.conftest import start_server


def test_demo_is_served_with_its_story_and_leaves_nothing_behind(tmp_path: Path):
    started = start_server(tmp_path, "--demo")
    client = started.client
    runs = client.get("/api/runs").json()["items"]
    assert {run["labels"].get("release"): run["verdict"] for run in runs[:2]} == {
        "1.4.0": "passed",
        "1.5.0": "failed",
    }
    flips = client.get(f"/api/compare?base={runs[1]['id']}&run={runs[0]['id']}").json()["flips"]
    assert len(flips) > 1
    assert f">{len(flips)} flips</a>" in client.get("/").body.decode()
    assert client.get("/api/datasets").json()["items"][0]["version"] == "1.0.0"
    assert client.get("/api/queues").json()["waiting"] == 36
    session = client.get("/api/sessions").json()["items"][0]
    assert (session["agent"], session["turns"] > 0) == ("support_agent", True)
    assert started.stop() == 0
    assert list(tmp_path.iterdir()) == []


def test_demo_has_a_store_of_its_own(tmp_path: Path):
    carob = Path(sys.executable).with_name("carob")
    command = [str(carob), "serve", "--demo", "--store", "x.db"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (process.returncode, "store of its own" in process.stderr) == (2, True)


def test_commands_of_the_demo_work_in_any_folder(tmp_path: Path):
    started = start_server(tmp_path, "--demo")
    client = started.client
    run = client.get("/api/runs").json()["items"][0]["id"]
    for page in (f"/runs/{run}?status=failed", "/datasets/bike_shop_support"):
        body = client.get(page).body.decode()
        command = re.search(r'<body data-command="([^"]*)"', body)
        assert command
        program, *arguments = shlex.split(unescape(command[1]))
        assert program == "carob"
        printed = subprocess.run(
            [sys.executable, "-m", "carob", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "warranty_frame" in printed.stdout
    assert started.stop() == 0
