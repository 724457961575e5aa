"""Reported writes survive anything that happens to the writing process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from carob.store import open_store
from carob.store.history import find_execution
from carob.store.runs import read_run
from carob.store.verify import verify

# Saves runs of many cases in a loop and prints the id of each as soon as it is saved.
_WRITER = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
from carob.store import open_store
from carob.store.document import split_run
from carob.store.runs import save_execution
spec = spec_from_file_location("builders", sys.argv[1])
builders = module_from_spec(spec)
spec.loader.exec_module(builders)
with open_store(sys.argv[2], create=True) as database:
    for number in range(int(sys.argv[4])):
        run = builders._run(*[float(f"0.{sys.argv[3]}{number:04}")] * 200)
        save_execution(database, split_run(run), {"writer": sys.argv[3]})
        print(run.id, flush=True)
"""
_BUILDERS = os.path.join(os.path.dirname(__file__), "conftest.py")  # noqa: PTH118, PTH120


def start(store_url: str, writer: int, runs: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _WRITER, _BUILDERS, store_url, str(writer), str(runs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("lines", [1, 7, 20])
def test_reported_runs_survive_a_kill(store_url: str, lines: int):
    with start(store_url, 1, 10_000) as writer:
        assert writer.stdout
        reported = [writer.stdout.readline().decode().strip() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        reported += writer.stdout.read().decode().split("\n")[:-1]
    with open_store(store_url) as database:
        report = verify(database)
        assert report.problems == ()
        assert report.runs >= len(reported)
        for name in reported:
            assert name.encode() in read_run(database, find_execution(database, name))


def test_four_writers_do_not_interfere(store_url: str):
    writers = [start(store_url, number, 10) for number in range(4)]
    outputs = [writer.communicate() for writer in writers]
    assert [errors for _, errors in outputs] == [b""] * 4
    reported = [name for out, _ in outputs for name in out.decode().split()]
    with open_store(store_url) as database:
        report = verify(database)
        assert (report.runs, report.executions, report.cases) == (40, 40, 8000)
        assert report.problems == ()
        assert all(find_execution(database, name) for name in reported)


def test_duplicate_run_from_four_writers_is_stored_once(store_url: str):
    writers = [start(store_url, 5, 5) for _ in range(4)]
    assert [writer.communicate()[1] for writer in writers] == [b""] * 4
    with open_store(store_url) as database:
        report = verify(database)
        assert (report.runs, report.executions) == (5, 20)
        assert report.problems == ()
