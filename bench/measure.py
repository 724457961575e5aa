"""Measure the time and memory of commands that run in their own processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = Path(sys.executable)
PEERS = ROOT / ".peers" / "bin" / "python"
CAROB = OURS.parent / "carob"

Command = Sequence[str | Path]


def environment() -> dict[str, str]:
    """The environment of measured commands. Without bytecode, imports would be two to three
    times as slow, which users do not see."""
    hidden = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    return {**kept, "PYTHONHASHSEED": "0", "NO_COLOR": "1"}


def compile_bytecode() -> None:
    """Compile the packages of both sides."""
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    for python in (OURS, PEERS):
        packages = _run([python, "-c", site]).stdout.decode().strip()
        _run([python, "-m", "compileall", "-q", "-j", "0", packages], check=False)
    _run([OURS, "-m", "compileall", "-q", ROOT / "src"])


def race(commands: Mapping[str, Command], *, repeats: int) -> dict[str, float]:
    """The best wall time of each command, in seconds."""

    def timed(command: Command) -> float:
        start = time.perf_counter()
        _run(command)
        return time.perf_counter() - start

    for command in commands.values():  # warms the disk cache
        timed(command)
    return _best(commands, timed, repeats)


def reported(commands: Mapping[str, Command], *, repeats: int) -> dict[str, float]:
    """The smallest number that each command prints, for programs that time a part of themselves."""
    return _best(commands, lambda command: float(_run(command).stdout), repeats)


def _best(
    commands: Mapping[str, Command], measure: Callable[[Command], float], repeats: int
) -> dict[str, float]:
    """Commands take turns, so that noise affects all of them."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(repeats):
        for name, command in commands.items():
            best[name] = min(best[name], measure(command))
    return best


# After a fork, the peak memory of a process includes that of its parent, so the parent that starts
# the command is as small as possible.
_ALONE = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_memory(command: Command, *, fine: Collection[int] = (0,)) -> float:
    """The peak resident set size of a command, in MB; `fine` are its accepted exit codes."""
    done = _run([sys.executable, "-S", "-c", _ALONE, *command], check=False)
    if done.returncode not in fine:
        done.check_returncode()
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return int(done.stdout) / unit


# Worker processes are children of a fork server, which outlives the command for a moment: nobody
# would count their CPU time. As a subreaper, this launcher inherits all of them and waits for them.
_WHOLE_TREE = """
import ctypes, os, resource, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
code = 0
while True:
    try:
        process, status = os.wait()
    except ChildProcessError:
        break
    if process == child:
        code = os.waitstatus_to_exitcode(status)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime)
sys.exit(code)
"""


def cpu_time(command: Command, *, folder: Path, fine: Collection[int] = (0,)) -> float:
    """The CPU seconds of a command and of all processes that it starts."""
    launcher = [sys.executable, "-S", "-c", _WHOLE_TREE, *command]
    done = _run(launcher, check=False, folder=folder)
    if done.returncode not in fine:
        done.check_returncode()
    return float(done.stdout)


# Worker processes are children of a fork server, so `wait4` misses them. This launcher looks at all
# descendants twenty times a second. Pages that processes share are divided among them (PSS).
_TREE_COST = """
import ctypes, os, resource, sys, time
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
me, code, peak, alone = os.getpid(), 0, 0, 0

def share(process):
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))

def memory():
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
    total = 0
    for process in parents:
        above = parents.get(process)
        while above and above != me:
            above = parents.get(above)
        try:
            total += share(process) if above == me else 0
        except (OSError, StopIteration):  # it ended meanwhile
            pass
    return total

while True:
    try:
        process, status, usage = os.wait4(-1, os.WNOHANG)
    except ChildProcessError:
        break
    if process:
        alone = max(alone, usage.ru_maxrss << 10)
        if process == child:
            code = os.waitstatus_to_exitcode(status)
    else:
        peak = max(peak, memory())
        time.sleep(0.05)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(max(peak, alone), usage.ru_utime + usage.ru_stime)
sys.exit(code)
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command and all processes that it starts need, together."""

    memory: float
    """The peak of their resident memory in MB; at least that of the largest process, which the
    kernel knows exactly."""
    seconds: float
    """CPU time."""


def tree_cost(command: Command, *, folder: Path, fine: Collection[int] = (0,)) -> Cost:
    """The cost of a command; `fine` are its accepted exit codes."""
    launcher = [sys.executable, "-S", "-c", _TREE_COST, *command]
    done = _run(launcher, check=False, folder=folder)
    if done.returncode not in fine:
        done.check_returncode()
    memory, seconds = done.stdout.split()
    return Cost(memory=int(memory) / 2**20, seconds=float(seconds))


def _run(
    command: Command, *, check: bool = True, folder: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [str(part) for part in command],
        env=environment(),
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if check and done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        done.check_returncode()
    return done
