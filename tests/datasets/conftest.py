"""Shared fixtures: the formats, and other tools as oracles."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carob import plugins
from carob.datasets.formats import Format

ROOT = Path(__file__).parents[2]
Oracle = Callable[[object], dict[str, Any]]


@pytest.fixture(scope="session")
def formats() -> list[Format]:
    """Every installed format, loaded through the plugin registry."""
    return [*plugins.formats()]


@pytest.fixture(scope="session")
def adk() -> Iterator[Oracle]:
    """Ask google-adk whether it loads a document, and for its serialization."""
    yield from _ask("adk.py")


@pytest.fixture(scope="session")
def original() -> Iterator[Oracle]:
    """Ask the tool that defines a format what it reads from a file: `[format, path]`."""
    yield from _ask("formats.py")


def _ask(oracle: str) -> Iterator[Oracle]:
    python = Path(os.environ.get("CAROB_PEERS", ROOT / ".peers/bin/python"))
    if not python.exists():
        pytest.fail(f"no {python}: `make peers` sets up the tools that these tests ask")
    command = [str(python), str(ROOT / "tests/oracle" / oracle)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        stdin, stdout = process.stdin, process.stdout

        def ask(document: object) -> dict[str, Any]:
            stdin.write(json.dumps(document).encode() + b"\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield ask
        stdin.close()
