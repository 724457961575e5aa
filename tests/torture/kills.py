"""Kill commands that write, with SIGKILL, at random moments from the start of the process on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.postgres import kill_server, restart_server, server
from tests.torture.scenarios import (
    SCENARIOS,
    End,
    Scenario,
    Stage,
    invoke,
    prepared_samples,
    start,
)
from tests.torture.tally import Finding, Tally

_ORPHAN_SECONDS = 10.0


def kill_commands(
    seconds: float, *, seed: int = 0, scenarios: Sequence[Scenario] = SCENARIOS
) -> Tally:
    """Kill commands for some time, and until one was killed, each scenario in turn."""
    random = Random(seed)  # noqa: S311 - a repeatable campaign
    tally = Tally("kills")
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="carob-kill-") as name:
        folder = Path(name)
        with prepared_samples(folder) as samples:
            stages: dict[str, Stage] = {}
            while time.monotonic() < end or not tally.total:
                for scenario in scenarios:
                    if time.monotonic() > end and tally.total:
                        break
                    if scenario.name not in stages:
                        own = folder / f"stage{len(stages)}"
                        own.mkdir()
                        stages[scenario.name] = Stage(scenario, samples, own)
                    _attempt(stages[scenario.name], folder / "work", random, tally)
    return tally


def _attempt(stage: Stage, folder: Path, random: Random, tally: Tally) -> None:
    stage.copy(folder)
    # Half of the moments are in the last part, in which commands write.
    earliest = random.choice((0.0, 0.6)) * stage.seconds
    delay = random.uniform(earliest, 1.05 * stage.seconds)
    only_main = random.random() < 0.5
    started = time.monotonic()
    process = start(folder, stage.scenario.command, program=stage.scenario.program)
    end = kill_after(process, delay, only_main=only_main)
    if end.code is None:
        tally.count(stage.scenario.name)
        stage.seconds *= 1.05 if delay > 0.95 * stage.seconds else 1
    else:  # the machine is faster than when the undisturbed command was measured
        tally.count("ended before the kill")
        stage.seconds = time.monotonic() - started
    for problem in stage.judge(folder, end):
        detail = f"{stage.scenario.name} after {delay:.3f} s of {stage.seconds:.3f}: {problem}"
        tally.findings.append(Finding(f"{stage.scenario.name}: {problem[:150]}", detail))


def kill_with_postgres(seconds: float, *, seed: int = 0) -> Tally:
    """Kill commands that write to PostgreSQL, or the server while they do, for some time and until
    one was killed."""
    random = Random(seed)  # noqa: S311 - a repeatable campaign
    tally = Tally("kills")
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="carob-kill-") as name, server(durable=True) as url:
        folder = Path(name)
        with prepared_samples(folder) as samples:
            store = _PostgresStore(url, samples)
            while time.monotonic() < end or not tally.total:
                store.attempt(random, tally)
    return tally


class _PostgresStore:
    """A store in PostgreSQL, and the attempts that were acknowledged."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder
        self._acknowledged: set[str] = set()
        self._number = 0
        started = time.monotonic()
        self._finish(start(folder, self._command()), None)
        self._seconds = time.monotonic() - started

    def attempt(self, random: Random, tally: Tally) -> None:
        self._number += 1
        victim = random.choice(("client", "server"))
        process = start(self._folder, self._command(random.choice(("1", "2"))))
        delay = random.uniform(0.3 * self._seconds, 1.05 * self._seconds)
        if victim == "client":
            end = kill_after(process, delay, only_main=random.random() < 0.5)
        else:
            time.sleep(delay)
            kill_server(self._url)
            end = self._finish(process, 60.0)
            restart_server(self._url)
        killed = victim == "server" or end.code is None
        tally.count(f"run, PostgreSQL {victim} killed" if killed else "ended before the kill")
        for problem in self._problems(end):
            tally.findings.append(Finding(f"PostgreSQL: {problem[:150]}", f"{victim}: {problem}"))

    def _command(self, jobs: str = "1") -> Sequence[str]:
        limit = str(self._number % 9 + 1)
        label = f"attempt={self._number}"
        command = ("run", "traces/good.otlp.jsonl", "-g", "support.evalset.json", "--limit", limit)
        return (*command, "--label", label, "--jobs", jobs, "--resume", "--store", self._url)

    def _finish(self, process: subprocess.Popen[str], timeout: float | None) -> End:
        _, errors = process.communicate(timeout=timeout)
        return End(process.returncode, errors)

    def _problems(self, end: End) -> Iterator[str]:
        if "Traceback" in end.errors:
            yield f"traceback: {end.errors[-1500:]}"
        if end.code in (0, 1) and "warning" not in end.errors:
            self._acknowledged.add(str(self._number))
        verified = invoke(self._folder, ("store", "verify", "--store", self._url))
        if verified.exit_code:
            yield f"store verify: {verified.output} {verified.exception}"
        command = ("runs", "--limit", "1000", "--format", "json", "--store", self._url)
        entries = json.loads(invoke(self._folder, command).stdout)["runs"]
        stored = {entry["labels"].get("attempt") for entry in entries}
        for missing in sorted(self._acknowledged - stored):
            yield f"attempt {missing} was acknowledged, and is not there"


def kill_after(process: subprocess.Popen[str], delay: float, *, only_main: bool) -> End:
    """Kill a process, or its whole group, unless it ends before. Workers that lose their main
    process have to end on their own."""
    try:
        _, errors = process.communicate(timeout=delay)
        return End(process.returncode, errors)
    except subprocess.TimeoutExpired:
        pass
    if only_main:
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    orphans = [*_orphans(process.pid)]
    _, errors = process.communicate()
    return End(None, errors + "".join(orphans))


def _orphans(group: int) -> Iterator[str]:
    end = time.monotonic() + _ORPHAN_SECONDS
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    yield f"Traceback: workers were still running {_ORPHAN_SECONDS:g} s after the kill"
