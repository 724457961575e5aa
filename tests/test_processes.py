from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from carob.processes import NoWorkersError, WorkerPool, call_when_stopped

HELPER = """
from functools import partial
from carob.runner.execute import execute
from carob.schema import Trace

def read(number):
    return [Trace(id=f"t{number}", turns=())]

def quiet(done, total):
    pass

def score(job, report):
    batches = [partial(read, number) for number in range(4)]
    result = execute(job, batches, jobs=2, progress=quiet, report=report)
    print(len(result.results))
"""
START = """
from carob.runner.job import ScoringJob
from carob.runner.plan import Plan
from helper import score

print("started")
"""


def prints(tmp_path: Path, script: str) -> list[str]:
    path = tmp_path / "script.py"
    path.write_text(START + script)
    (tmp_path / "helper.py").write_text(HELPER)
    command = [sys.executable, str(path)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout.splitlines()


def test_script_without_a_main_guard_runs_once(tmp_path: Path):
    script = """
score(ScoringJob(plan=Plan(metrics=()), cases=None), lambda problem: print(problem.message))
"""
    assert prints(tmp_path, script) == ["started", "4"]


def test_daemonic_worker_scores_in_one_process_with_a_note(tmp_path: Path):
    script = """
def tell(problem):
    print(problem.severity, problem.message)

def work():
    score(ScoringJob(plan=Plan(metrics=()), cases=None), tell)

if __name__ == "__main__":
    import multiprocessing
    worker = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    worker.start()
    worker.join()
"""
    note = "note scoring in one process: daemonic processes cannot start processes"
    assert prints(tmp_path, script) == ["started", note, "4"]


def test_metric_of_an_unguarded_script_is_scored_in_one_process_with_a_note(tmp_path: Path):
    script = """
from dataclasses import dataclass
from typing import ClassVar
from carob.metrics import Metric
from carob.runner.plan import PlannedMetric
from carob.schema import Score

@dataclass(frozen=True, kw_only=True)
class Own(Metric):
    name: ClassVar[str] = "own"
    version: ClassVar[int] = 1

    def score(self, case, trace):
        return Score(value=1.0)

notes = []
metric = PlannedMetric(metric=Own(), threshold=1.0, client=None)
score(ScoringJob(plan=Plan(metrics=(metric,)), cases=None), notes.append)
print(notes[0].message)
"""
    # Several workers may import the script, and print into the same line, before they end.
    *workers, count, note = prints(tmp_path, script)
    assert {*"".join(workers).replace("started", " ")} == {" "}
    assert count == "4"
    assert note.startswith("scoring in one process: a worker process ended unexpectedly; does the")


def test_worker_that_dies_is_an_error():
    with pytest.raises(NoWorkersError, match="ended unexpectedly"), WorkerPool(1, _nothing) as pool:
        pool.result(pool.submit(_die))


def _nothing() -> None:
    pass


def _die() -> None:
    import os

    os._exit(3)


class LoopOfWindows(asyncio.SelectorEventLoop):
    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: object) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("loop_factory", [asyncio.SelectorEventLoop, LoopOfWindows])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_every_kind_of_loop(
    loop_factory: Callable[[], asyncio.AbstractEventLoop], number: signal.Signals
):
    async def wait_for_signal() -> None:
        stopped = asyncio.Event()
        call_when_stopped(asyncio.get_running_loop(), stopped.set)
        asyncio.get_running_loop().call_soon(signal.raise_signal, number)
        await asyncio.wait_for(stopped.wait(), 10)

    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(wait_for_signal())
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
