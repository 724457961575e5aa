"""Processes of the environment `.frameworks`, which has the agent frameworks."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "frameworks"
_STARTING = 120.0


def framework_python() -> Path:
    """The interpreter with the frameworks. Without it, tests fail rather than pass unnoticed."""
    python = Path(os.environ.get("CAROB_FRAMEWORKS", ROOT / ".frameworks/bin/python"))
    if not python.exists():
        pytest.fail(f"no {python}: `make test` sets up the frameworks that these tests ask")
    return python


def run_script(name: str, *args: str) -> str:
    """Run a script that imports Carob, and return its output."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "GOOGLE_API_KEY": "none"}
    ended = subprocess.run(
        [framework_python(), SCRIPTS / name, *args],
        capture_output=True,
        text=True,
        env=environment,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


@contextmanager
def serving(*command: str | Path) -> Generator[str]:
    """Start a server, `{port}` being its port, and yield its address until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [str(word).replace("{port}", str(port)) for word in command]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with TemporaryDirectory() as folder:  # some servers write files where they run
        process = subprocess.Popen(
            words,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=folder,
        )
        try:
            _wait(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.communicate()


def _wait(process: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server ended: {(process.communicate()[1] or '')[-3000:]}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server does not answer")
