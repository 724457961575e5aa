"""Full disks, read-only folders, files that vanish, and a clock that runs backwards.

`faults.c` fails system calls of the real commands, in the end each one that a command makes.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from tests.torture.scenarios import (
    CAROB,
    SCENARIOS,
    End,
    Scenario,
    Stage,
    prepared_samples,
    run_command,
)
from tests.torture.tally import Finding, Tally

_SOURCE = Path(__file__).with_name("faults.c")
_WRITE_MODES = ("full", "once", "partial")
_READ_MODES = ("vanish", "broken")


def build_library(folder: Path) -> Path:
    """Compile the library that fails system calls."""
    library = folder / "faults.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("a C compiler is needed to fail system calls")
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return library


def fail_calls(
    seconds: float,
    *,
    seed: int = 0,
    scenarios: Sequence[Scenario] = SCENARIOS,
) -> Tally:
    """Fail system calls of commands that write, for some time."""
    random = Random(seed)  # noqa: S311 - a repeatable campaign
    tally = Tally("failed calls")
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="carob-fault-") as name:
        folder = Path(name)
        library = build_library(folder)
        with prepared_samples(folder) as samples:
            campaigns = [
                _Faults(scenario, samples, folder / f"stage{number}", library, random)
                for number, scenario in enumerate(scenarios)
            ]
            while campaigns and time.monotonic() < end:
                for campaign in [*campaigns]:
                    if time.monotonic() < end and not campaign.step(folder / "work", tally):
                        campaigns.remove(campaign)
    return tally


class _Faults:
    """The faults of one command, in random order of kinds: at the first call, the second, the
    fourth and so on, until it ends undisturbed; then at all calls in between, in random order."""

    def __init__(
        self, scenario: Scenario, samples: Path, folder: Path, library: Path, random: Random
    ) -> None:
        self._scenario, self._samples, self._folder = scenario, samples, folder
        self._library = library
        self._stage: Stage | None = None
        self._next = self._plan(random)
        self._tried: dict[str, set[int]] = {mode: set() for mode in _WRITE_MODES + _READ_MODES}
        self._limits: dict[str, int] = {}

    def step(self, folder: Path, tally: Tally) -> bool:
        """Try the next fault. Returns whether there was one."""
        for mode, number in self._next:
            self._try(mode, number, folder, tally)
            return True
        return False

    def _plan(self, random: Random) -> Iterator[tuple[str, int]]:
        yield "readonly", 1
        yield "clock", 86_400
        modes = [*self._tried]
        while modes:
            for mode in random.sample(modes, len(modes)):
                number = self._choose(mode, random)
                if number is None:
                    modes.remove(mode)
                else:
                    self._tried[mode].add(number)
                    yield mode, number

    def _choose(self, mode: str, random: Random) -> int | None:
        tried, limit = self._tried[mode], self._limits.get(mode)
        if limit is None:
            return 2 * max(tried, default=0) or 1
        rest = [number for number in range(1, limit) if number not in tried]
        return random.choice(rest) if rest else None

    def _try(self, mode: str, number: int, folder: Path, tally: Tally) -> None:
        if self._stage is None:
            self._folder.mkdir()
            self._stage = Stage(self._scenario, self._samples, self._folder)
        self._stage.copy(folder)
        mark = Path(f"{folder}-mark")
        mark.unlink(missing_ok=True)
        end = run_command(
            folder,
            self._scenario.command,
            self._environment(mode, number, folder, mark),
            self._scenario.program,
        )
        if not mark.exists() and mode != "clock":
            self._limits[mode] = min(number, self._limits.get(mode, number))
            return
        tally.count(f"{mode}: {self._scenario.name}")
        for problem in _problems(self._stage, folder, end):
            what = f"{self._scenario.name}, {mode} at {number}: {problem}"
            tally.findings.append(Finding(f"{self._scenario.name}, {mode}: {problem[:150]}", what))

    def _environment(self, mode: str, number: int, folder: Path, mark: Path) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": str(self._library),
            "TORTURE_ROOT": str(folder),
            "TORTURE_MODE": mode,
            "TORTURE_AT": str(number),
            "TORTURE_MARK": str(mark),
        }


def _problems(stage: Stage, folder: Path, end: End) -> Iterator[str]:
    is_ours = stage.scenario.program == (CAROB,)
    if end.code not in ((0, 1, 2) if is_ours else (0, 1, 2, 3)):  # 3 is pytest's own
        yield f"ended with {end.code}: {end.errors[-500:]}"
    if is_ours and end.code == 2 and not end.errors.strip():
        yield "ended with 2 and no message"
    yield from stage.judge(folder, end)
