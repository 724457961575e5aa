"""Runs on a Ray cluster of two nodes, of which workers and one node are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from carob.api.history import stored_document
from carob.store import open_store
from carob.store.unfinished import unfinished_runs
from carob.store.verify import verify
from tests.cluster.nodes import Nodes, ray_nodes, wait_until
from tests.cluster.s3 import (
    ENVIRONMENT,
    StorageServer,
    cluster_environment,
    needs_environment,
    run_carob,
    storage_server,
)
from tests.postgres import server
from tests.store.test_shards import CASES, write_inputs

pytestmark = needs_environment

# Notes each pair that it scores, and is slow on the cluster only.
_METRIC = """
import os, time
from carob import metric

@metric(threshold=0.5)
def answered(case, trace):
    if log := os.environ.get("TEST_LOG"):
        with open(log, "a") as file:
            file.write(f"{trace.id} {os.getpid()} {os.environ.get('RAY_RAYLET_PID')}\\n")
        time.sleep(0.25)
    return float("depot" in (trace.turns[0].response or ""))
"""
_SCORED = ("-m", "metric.py:answered", "--format", "json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    write_inputs(folder)
    (folder / "metric.py").write_text(_METRIC)
    return folder


@pytest.fixture(scope="module")
def storage(folder: Path) -> Generator[StorageServer]:
    with storage_server(folder / "buckets") as storage:
        for file in (folder / "traces").iterdir():
            storage.put(f"shop/{file.name}", file.read_bytes())
        yield storage


@pytest.fixture(scope="module")
def nodes(folder: Path, storage: StorageServer) -> Generator[Nodes]:
    variables = {**storage.variables, "TEST_LOG": str(folder / "log")}
    with ray_nodes(folder, variables) as nodes:
        nodes.join()
        yield nodes


@pytest.fixture(scope="module")
def postgres() -> Generator[str]:
    with server() as url:
        yield url


def alone(folder: Path, *traces: str | Path) -> str:
    """The report of one process, which does not use the cluster."""
    arguments = ("run", *traces, "-g", "golden.csv", *_SCORED, "--store", "alone.db")
    result = run_carob(folder, {}, *arguments)
    assert result.stderr == ""
    return result.stdout


def scored(folder: Path) -> list[list[str]]:
    """What the cluster has scored: trace, process and node."""
    log = folder / "log"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def finished(store: str) -> int:
    """The number of shards that are committed to the run in progress."""
    with open_store(store, create=True) as database:
        return sum(run.finished for run in unfinished_runs(database))


def test_killed_workers_and_nodes_lose_and_repeat_nothing(
    folder: Path, nodes: Nodes, postgres: str
):
    files = sorted((folder / "traces").iterdir())
    command = [ENVIRONMENT / "bin" / "python", "-m", "carob", "run", *files, "-g", "golden.csv"]
    command += [*_SCORED, "--store", postgres, "--on", nodes.address]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=cluster_environment(folder, nodes.variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until(lambda: finished(postgres) and len({row[2] for row in scored(folder)}) == 2)
        os.kill(int(scored(folder)[-1][1]), signal.SIGKILL)  # a worker
        before = finished(postgres)
        wait_until(
            lambda: finished(postgres) > before and nodes.is_last(int(scored(folder)[-1][2]))
        )
        nodes.kill_last()  # while it is scoring
        output, errors = process.communicate(timeout=120)
    assert {line[:10] for line in errors.splitlines()} <= {b"note: Ray:"}
    assert output.decode() == alone(folder, *files)
    assert process.returncode == 1  # some answers are wrong
    assert stored_document("latest", store=postgres) == stored_document(
        "latest", store=str(folder / "alone.db")
    )
    with open_store(postgres) as database:
        assert unfinished_runs(database) == ()
        assert verify(database).problems == ()
    # A shard that was committed is never scored again. Each kill interrupts at most the shard that
    # a worker was scoring, which has at most 6 traces of cases.
    times = Counter(row[0] for row in scored(folder))
    assert len(times) == CASES
    assert sum(count - 1 for count in times.values()) <= 2 * 6


def test_clients_elsewhere_read_object_storage(
    folder: Path, nodes: Nodes, postgres: str, storage: StorageServer
):
    (folder / "log").unlink(missing_ok=True)
    address = "s3://shop/*.jsonl"
    arguments = ("run", address, "-g", "golden.csv", *_SCORED, "--store", postgres)
    remote = run_carob(folder, nodes.variables, *arguments, "--on", nodes.client)
    assert (remote.stderr, remote.stdout) == ("", alone(folder, *sorted(folder.glob("traces/*"))))
    assert len(scored(folder)) == CASES


def test_run_that_was_stopped_continues(folder: Path, nodes: Nodes, postgres: str):
    (folder / "log").unlink(missing_ok=True)
    files = sorted((folder / "traces").iterdir())
    arguments = ("run", *files, "-g", "golden.csv", *_SCORED, "--store", postgres)
    command = [ENVIRONMENT / "bin" / "python", "-m", "carob", *arguments, "--on", nodes.address]
    variables = cluster_environment(folder, nodes.variables)
    with subprocess.Popen(command, cwd=folder, env=variables) as process:
        wait_until(lambda: finished(postgres) >= 2)
        process.kill()
    committed = finished(postgres)
    again = run_carob(folder, nodes.variables, *arguments, "--on", nodes.address)
    assert again.stdout == alone(folder, *files)
    times = Counter(row[0] for row in scored(folder))
    assert len(times) == CASES
    # What the killed driver had submitted may still have been running.
    assert sum(count - 1 for count in times.values()) <= (7 - committed) * 4 + 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--on", "spark"), "unknown cluster 'spark'; expected ray, ray://HOST:PORT or HOST:PORT"),
        (("--on", "ray", "--no-store"), "--no-store cannot be combined with --on"),
        (("--on", "ray", "--keep-traces"), "--keep-traces cannot be combined with --on"),
    ],
)
def test_options_that_do_not_fit_are_errors(folder: Path, arguments: tuple[str, ...], message: str):
    traces = folder / "traces" / "1.jsonl"
    result = run_carob(folder, {}, "run", traces, "-g", "golden.csv", *_SCORED, *arguments)
    assert (result.returncode, message in result.stderr) == (2, True)


def test_cluster_of_this_machine_starts_and_ends_with_the_run(tmp_path: Path, folder: Path):
    files = sorted((folder / "traces").iterdir())
    arguments = ("run", *files, "-g", folder / "golden.csv", *_SCORED[2:], "-m", "exact_match")
    local = run_carob(tmp_path, {}, *arguments, "--on", "ray", "--store", "ray.db")
    single = run_carob(tmp_path, {}, *arguments, "--store", "single.db")
    assert (local.stderr, local.stdout) == ("", single.stdout)
    assert json.loads(local.stdout)["summary"]["cases"]["total"] == CASES


class _JudgeHandler(BaseHTTPRequestHandler):
    """Answers every question of a judge with yes, and counts them."""

    questions: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.questions.append(json.dumps(body["messages"]))
        answer = json.dumps({"explanation": "It is.", "verdict": "yes"})
        message = {"role": "assistant", "content": answer}
        usage = {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52}
        reply = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        data = json.dumps({**reply, "id": "1", "model": "judge", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def judge() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _JudgeHandler) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{provider.server_port}/v1"
        provider.shutdown()


def test_limits_of_judges_hold_for_all_workers(
    folder: Path, nodes: Nodes, postgres: str, judge: str
):
    (folder / "kind.toml").write_text(
        'title = "Kind"\nquestion = "Is it kind?"\nscale = "yes/no"\ninputs = ["response"]\n'
    )
    files = sorted((folder / "traces").iterdir())
    arguments = ["run", *files, "-g", "golden.csv", "-m", "kind.toml", "--format", "json"]
    arguments += ["--judge", "vllm:judge", "--judge-url", judge, "--on", nodes.address]
    arguments += ["--store", postgres]
    stopped = run_carob(folder, nodes.variables, *arguments, "--max-calls", "7")
    assert "judging stopped early: the limit of 7 calls was reached" in stopped.stderr
    assert stopped.returncode == 2
    assert len(_JudgeHandler.questions) == 7
    complete = run_carob(folder, nodes.variables, *arguments, "--max-calls", "100")
    assert json.loads(complete.stdout)["summary"]["cases"]["total"] == CASES
    assert len(_JudgeHandler.questions) == len(set(_JudgeHandler.questions))  # none was asked twice
