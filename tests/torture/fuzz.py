"""Hostile input: mutated documents through every command, in worker processes with a watchdog.

An input that leads to a message that was not seen before joins the corpus, so that the next
mutations start from there.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from traceback import format_exception
from types import FrameType

import click
from click.testing import CliRunner, Result

from carob.cli import carob
from carob.errors import CarobError
from tests.torture.mutate import mutate
from tests.torture.tally import Finding, Tally
from tests.torture.targets import TARGETS, Target, prepare

MAX_SECONDS = 5.0
MAX_MEMORY = 300 * 2**20
_ROUND = 20_000
"""Inputs for which a worker lives: a new one has its memory to itself."""
_PATIENCE = 120.0
"""Seconds without a sign of life after which a worker is killed."""
_ADDRESS_SPACE = 4 * 2**30
_NOT_READY = 7
"""Exit code of a worker that could not prepare its folder."""
_GOOD_ENDS = (CarobError, click.ClickException, SystemExit)


class _TooSlow(BaseException):
    """Raised by the alarm in whatever the command is doing."""


def fuzz(seconds: float, home: Path, *, seed: int = 0, workers: int = 1) -> Tally:
    """Try inputs for some time. The corpus and the findings are kept in `home`."""
    tally = Tally("inputs")
    end = time.monotonic() + seconds
    number = seed
    running: list[_Worker] = []
    while running or time.monotonic() < end:
        while len(running) < workers and time.monotonic() < end:
            number += 1
            running.append(_Worker(home, number, end))
        time.sleep(0.1)
        for worker in [worker for worker in running if worker.has_ended()]:
            running.remove(worker)
            tally.add(worker.collect())
    return tally


class _Worker:
    """A process that tries inputs, and what it leaves behind when it does not survive one."""

    def __init__(self, home: Path, seed: int, end: float) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="carob-fuzz-", dir=_memory_folder()))
        self._seen = time.monotonic()
        self._last = b""
        self._hung = False
        arguments = [str(self._folder), str(home), str(seed), str(end - time.monotonic())]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.torture.fuzz", *arguments],
            env={**os.environ, "PYTHONHASHSEED": "0", **_own_folders(self._folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def has_ended(self) -> bool:
        if self._process.poll() is not None:
            return True
        last = _read(self._folder / "current")
        if last != self._last:
            self._seen, self._last = time.monotonic(), last
        if time.monotonic() - self._seen > _PATIENCE:
            self._hung = True
            self._process.kill()
            self._process.wait()
            return True
        return False

    def collect(self) -> Tally:
        tally = Tally("inputs")
        assert self._process.stderr
        with self._process.stderr:
            errors = self._process.stderr.read().decode(errors="replace")
        for line in _read(self._folder / "counts").splitlines():
            tally.count(line.decode())
        for line in _read(self._folder / "findings").splitlines():
            tally.findings.append(Finding(**json.loads(line)))
        if self._process.returncode == _NOT_READY:
            raise RuntimeError(errors)
        if self._hung or self._process.returncode:
            what = "hang" if self._hung else f"the process ended with {self._process.returncode}"
            detail = f"{_read(self._folder / 'current').decode(errors='replace')}\n{errors}"
            tally.findings.append(Finding(what, detail))
        shutil.rmtree(self._folder, ignore_errors=True)
        return tally


def _memory_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a private folder in it


def _own_folders(folder: Path) -> dict[str, str]:
    """Temporary folders in memory: on a disk, removing them takes longer than most inputs."""
    scratch = folder / "scratch"
    scratch.mkdir()
    return {"XDG_STATE_HOME": f"{folder}/state", "TMPDIR": str(scratch)}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


class _Corpus:
    """Inputs by target: the samples, and those that led to something new."""

    def __init__(self, home: Path, samples: Path) -> None:
        self._folder = home / "corpus"
        self.inputs: dict[str, list[bytes]] = {}
        for target in TARGETS:
            folder = self._folder / target.name
            folder.mkdir(parents=True, exist_ok=True)
            grown = [_read(file) for file in sorted(folder.glob("*.bin"))]
            self.inputs[target.name] = [*target.seeds(samples), *grown]
        self._seen = {*_read(self._folder / "signatures").decode().splitlines()}

    def learn(self, target: Target, data: bytes, signature: str) -> None:
        if signature in self._seen:
            return
        self._seen.add(signature)
        self.inputs[target.name].append(data)
        name = sha256(data).hexdigest()[:16]
        (self._folder / target.name / f"{name}.bin").write_bytes(data)
        with (self._folder / "signatures").open("a") as file:
            file.write(f"{signature}\n")


def work(folder: Path, home: Path, seed: int, seconds: float) -> None:
    """Try inputs one after the other, in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    samples = folder / "samples"
    samples.mkdir()
    try:
        prepare(samples)
    except RuntimeError as error:
        sys.stderr.write("".join(format_exception(error)))
        sys.exit(_NOT_READY)
    corpus = _Corpus(home, samples)
    random = Random(seed)  # noqa: S311 - a repeatable campaign
    end = time.monotonic() + seconds
    work_folder = folder / "work"
    probe = _Probe(folder)
    for number in range(_ROUND):
        if time.monotonic() > end:
            break
        if number % 500 == 0:  # commands write as well
            shutil.rmtree(work_folder, ignore_errors=True)
            shutil.copytree(samples, work_folder)
            os.chdir(work_folder)
        target = random.choices(TARGETS, [_weight(target) for target in TARGETS])[0]
        _try_input(target, corpus, random, probe, folder)


def _weight(target: Target) -> int:
    return {"golden": 8, "traces": 6, "config": 3, "run": 3}.get(target.name, 1)


def _try_input(
    target: Target, corpus: _Corpus, random: Random, probe: _Probe, folder: Path
) -> None:
    inputs = corpus.inputs[target.name]
    # The smaller of two: most of what can go wrong goes wrong in small documents, and sooner.
    start = min(random.choice(inputs), random.choice(inputs), key=len)
    data = mutate(start, random.choice(inputs), random)
    args = [*target.commands(random)]
    if target.name == "expression":
        args = ["subset", "support.evalset.json", "output", "--force", "--where", _as_text(data)]
    file = folder / "work" / target.file
    original = _read(file)
    file.write_bytes(data)
    probe.announce(f"{time.time()} {target.name} {args!r}\n")
    before = probe.reset_peak()
    clock = _Clock()
    problem, signature = _judge(args, clock)
    if (seconds := clock.seconds()) > MAX_SECONDS:
        problem = problem or f"took {seconds:.1f} s"
    if (used := probe.peak() - before) > MAX_MEMORY:
        problem = problem or f"used {used >> 20} MB"
    probe.count(args[0])
    corpus.learn(target, data, f"{target.name} {signature}")
    if problem:
        kept = corpus.inputs[target.name]
        kept[:] = [item for item in kept if item != data]
        _report(problem, target, args, data, folder)
    if original:
        file.write_bytes(original)
    else:
        file.unlink(missing_ok=True)


def _judge(args: Sequence[str], clock: _Clock) -> tuple[str | None, str]:
    """Run a command. Returns what is wrong with its end, and a signature of how it ended."""
    signal.signal(signal.SIGALRM, clock.check)
    signal.setitimer(signal.ITIMER_REAL, 2 * MAX_SECONDS)
    try:
        result = CliRunner().invoke(carob, args)
    except _TooSlow as error:
        return "hang: " + "".join(format_exception(error))[-1500:], "hang"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    error = result.exception
    if error is not None and not isinstance(error, _GOOD_ENDS):
        return "".join(format_exception(error)), "traceback"
    return _bad_output(args, result), _signature(args, result)


def _bad_output(args: Sequence[str], result: Result) -> str | None:
    code = result.exception.exit_code if isinstance(result.exception, CarobError) else None
    if (code if code is not None else result.exit_code) not in (0, 1, 2):
        return f"exit code {result.exit_code}"
    if "json" in args and result.exception is None and result.stdout:
        try:
            json.loads(result.stdout, parse_constant=_refuse)
        except ValueError as error:
            return f"invalid JSON: {error}"
    return None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _signature(args: Sequence[str], result: Result) -> str:
    text = str(result.exception or result.output[:60])
    words = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)
    plain = re.sub(r"[^A-Za-z':… ]+", "#", words.rpartition(": ")[2] or words)
    return f"{args[0]} {result.exit_code} {type(result.exception).__name__} {plain[:70]}"


def _report(problem: str, target: Target, args: Sequence[str], data: bytes, folder: Path) -> None:
    name = sha256(data).hexdigest()[:16]
    home = Path(sys.argv[2]) / "findings"
    home.mkdir(parents=True, exist_ok=True)
    (home / f"{target.name}-{name}.bin").write_bytes(data)
    what = problem.strip().splitlines()[-1][:200]
    finding = Finding(what, f"{target.name} {args!r} {name}\n{problem}")
    with (folder / "findings").open("a") as file:
        file.write(json.dumps(finding._asdict()) + "\n")


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Probe:
    """Tells the watchdog what is tried, and measures memory. All files stay open: opening them
    again would take longer than most inputs."""

    def __init__(self, folder: Path) -> None:
        self._current = os.open(folder / "current", os.O_CREAT | os.O_WRONLY)
        self._counts = os.open(folder / "counts", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._reset = os.open("/proc/self/clear_refs", os.O_WRONLY)
        self._status = os.open("/proc/self/status", os.O_RDONLY)

    def announce(self, text: str) -> None:
        data = text.encode(errors="replace")
        os.pwrite(self._current, data, 0)
        os.ftruncate(self._current, len(data))

    def count(self, command: str) -> None:
        os.write(self._counts, f"{command}\n".encode())

    def reset_peak(self) -> int:
        os.write(self._reset, b"5")
        return self.peak()

    def peak(self) -> int:
        status = os.pread(self._status, 8192, 0)
        return int(status.partition(b"VmHWM:")[2].split()[0]) * 1024


class _Clock:
    """Seconds that a command takes, without those in which others had the core that it needed: on
    a busy machine they say nothing about the command."""

    def __init__(self) -> None:
        self._start = self._now()

    def seconds(self) -> float:
        return self._now() - self._start

    def check(self, _number: int, _frame: FrameType | None) -> None:
        """Raise `_TooSlow` if the command hangs, else look again later."""
        rest = 2 * MAX_SECONDS - self.seconds()
        if rest <= 0:
            raise _TooSlow
        signal.setitimer(signal.ITIMER_REAL, rest + 0.01)

    def _now(self) -> float:
        _, waiting_for_core, _ = _read(Path("/proc/self/schedstat")).split()
        return time.perf_counter() - int(waiting_for_core) / 1e9


def distinct(findings: Sequence[Finding]) -> Iterator[tuple[str, int]]:
    """Findings by the line that says what happened, most frequent first."""
    yield from Counter(finding.what for finding in findings).most_common()


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
