"""`carob run --target`: a live agent from the command line, stopped, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

AGENT = """
import pathlib, time
def answer(message):
    with open("calls.txt", "a") as file:
        file.write(message + "\\n")
    time.sleep(0.1 if pathlib.Path("slow").exists() else 0)
    return "The hose costs 19 euros." if "hose" in message else "I do not know."
"""
QUESTIONS = 12


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    rows = [
        {
            "id": f"q{number}",
            "input": f"hose {number}?",
            "expected_output": "The hose costs 19 euros.",
        }
        for number in range(QUESTIONS)
    ]
    Path("golden.json").write_text(json.dumps(rows))


COMMAND = [sys.executable, "-c", "from carob.cli import main; main()"]
ARGS = ["run", "--golden", "golden.json", "--target", "python:agent.py:answer", "-m", "exact_match"]


def start(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *ARGS, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )


def carob(*args: str) -> subprocess.CompletedProcess[str]:
    process = start(*args)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def calls() -> list[str]:
    return Path("calls.txt").read_text().splitlines()


def wait_for_calls(number: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Path("calls.txt").exists() and len(calls()) >= number:
            return
        time.sleep(0.02)
    raise AssertionError("the agent was not asked")


def test_live_run_is_scored_and_saved_with_its_traces():
    ended = carob("--format", "json")
    assert ended.returncode == 0, ended.stderr
    run = json.loads(ended.stdout)
    assert run["verdict"] == "passed"
    assert run["target"]["name"] == "python:agent.py:answer"
    assert len(calls()) == QUESTIONS


def test_repeats_are_in_the_text_report():
    ended = carob("--repeat", "2", "--limit", "2", "--concurrency", "1")
    assert ended.returncode == 0, ended.stderr
    assert "pass@k" in ended.stdout
    assert "pass^k" in ended.stdout
    assert len(calls()) == 4


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_run_loses_no_finished_attempt_and_resume_repeats_none(ending: signal.Signals):
    Path("slow").touch()
    process = start("--concurrency", "1")
    wait_for_calls(4)
    process.send_signal(ending)
    _, err = process.communicate(timeout=60)
    asked = len(calls())
    if ending is signal.SIGINT:
        assert "of 12 attempts are saved" in err
        assert "continue with --resume" in err
    Path("slow").unlink()
    ended = carob("--resume", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["summary"]["cases"]["passed"] == QUESTIONS
    # Only the conversation that was cut off, and one whose end was not written yet, are repeated.
    assert QUESTIONS <= len(calls()) <= QUESTIONS + 2
    assert asked >= 4


def test_next_run_does_not_resume_a_complete_one():
    carob("--limit", "2")
    carob("--limit", "2", "--resume")
    assert len(calls()) == 4


def test_time_limit_makes_the_run_inconclusive_and_resumable():
    Path("slow").touch()
    stopped = carob("--max-time", "0.7", "--concurrency", "1", "--format", "json")
    assert stopped.returncode == 1
    run = json.loads(stopped.stdout)
    assert run["verdict"] == "inconclusive"
    assert run["stopped"] == "the time limit of 0.7 s was reached"
    Path("slow").unlink()
    ended = carob("--resume", "--format", "json")
    assert json.loads(ended.stdout)["verdict"] == "passed"
    assert len(calls()) <= QUESTIONS + 1


def test_traces_and_a_target_exclude_each_other():
    Path("traces.json").write_text("[]")
    ended = carob("traces.json")
    assert ended.returncode == 2
    assert "both traces and a target" in ended.stderr


CONFIG = """
target = "python:agent.py:answer"
[run]
golden = "golden.json"
metrics = ["exact_match"]
"""


def run_config(*args: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, "run", "--no-store", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_target_of_the_config_needs_trust():
    Path("carob.toml").write_text(CONFIG)
    refused = run_config()
    assert refused.returncode == 2
    assert "target = python:agent.py:answer" in refused.stderr
    assert not Path("calls.txt").exists()
    trusted = run_config("--trust-config")
    assert trusted.returncode == 0, trusted.stderr
    assert len(calls()) == QUESTIONS


def test_target_is_named_as_in_the_config():
    named = CONFIG.replace('target = "', '[targets]\nshop = "')
    Path("carob.toml").write_text(named)
    refused = run_config("--target", "shop")
    assert refused.returncode == 2
    assert "targets.shop = python:agent.py:answer" in refused.stderr
    assert not Path("calls.txt").exists()
    misspelt = run_config("--target", "shpo", "--trust-config")
    assert misspelt.returncode == 2
    assert "no target 'shpo' in carob.toml" in misspelt.stderr
    assert "shop" in misspelt.stderr.partition("shpo")[2]
    trusted = run_config("--target", "shop", "--trust-config")
    assert trusted.returncode == 0, trusted.stderr
    assert len(calls()) == QUESTIONS


def test_sessions_of_two_runs_are_different():
    Path("agent.py").write_text(
        "def answer(message, conversation):\n"
        "    open('calls.txt', 'a').write(conversation.traceparent + '\\n')\n"
        "    return 'x'\n"
    )
    carob("--limit", "1")
    carob("--limit", "1")
    first, second = calls()
    assert first != second


def test_traces_of_a_run_are_scored_again_without_asking():
    first = json.loads(carob("--limit", "2", "--format", "json").stdout)
    assert len(calls()) == 2
    command = [*COMMAND, "run", "--golden", "golden.json", "--limit", "2", "--traces-of"]
    ended = subprocess.run(
        [*command, first["id"], "-m", "exact_match", "-m", "latency", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    again = json.loads(ended.stdout)
    assert again["target"] == first["target"]
    assert [metric["name"] for metric in again["metrics"]] == ["exact_match", "latency"]
    assert [case["trace"] for case in again["cases"]] == [case["trace"] for case in first["cases"]]
    assert len(calls()) == 2


LINES = """
import json, pathlib, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: pathlib.Path("interrupted").touch())
for line in sys.stdin:
    ask = json.loads(line)
    with open("calls.txt", "a") as file:
        file.write(ask["message"] + "\\n")
    time.sleep(0.2 if pathlib.Path("slow").exists() else 0)
    print(json.dumps({"id": ask["id"], "response": "The hose costs 19 euros."}), flush=True)
"""


def test_ctrl_c_in_a_terminal_is_no_error_of_a_command():
    """A terminal sends SIGINT to the whole group: the agent must not be part of it."""
    Path("lines.py").write_text(LINES)
    Path("slow").touch()
    target = ["--target", f"command:{sys.executable} lines.py"]
    words = [*COMMAND, "run", "--golden", "golden.json", "-m", "exact_match", *target]
    process = subprocess.Popen(
        [*words, "--concurrency", "4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_calls(3)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "attempts are saved" in err or "stopped before" in err, err
    assert not Path("interrupted").exists()
    Path("slow").unlink()
    ended = subprocess.run(
        [*words, "--resume", "--format", "json"], capture_output=True, text=True, check=False
    )
    assert json.loads(ended.stdout)["summary"]["cases"]["passed"] == QUESTIONS, ended.stdout[:2000]
