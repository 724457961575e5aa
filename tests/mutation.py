"""Mutation testing: does a test fail when the code is changed?

`make mutation` runs it. mutmut writes the mutants: changed copies of every function, all in one
tree, of which an environment variable chooses one. Its own runner starts pytest for every mutant,
which takes longer than the tests. Here one pytest session collects the tests once, learns which
functions each test calls, and then forks for every mutant a child that runs the tests of that
function until one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).parents[1]
TREE = ROOT / "mutants"
RESULTS = TREE / "results.json"
PACKAGES = ("policy", "analysis", "metrics", "runner")
_OPTIONS = (
    "-q",
    "-p",
    "no:xdist",
    "-p",
    "no:cacheprovider",
    "--hypothesis-profile=mutation",
    # It asks google-adk, in another process, which takes longer than all other tests.
    "--ignore=tests/metrics/test_adk.py",
)
_SLOW = 20.0
"""Seconds of CPU time that a mutant gets beyond ten times what its tests take without it."""


class MutantRun:
    """A plugin that runs mutants instead of the collected tests."""

    def __init__(self, mutants: Sequence[str], jobs: int) -> None:
        self._mutants = mutants
        self._jobs = jobs
        self.results: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        tests, seconds = _observe(session.items)
        for items in tests.values():
            items.sort(key=lambda item: seconds[item.nodeid])

        def cost(mutant: str) -> float:
            return sum(seconds[item.nodeid] for item in tests.get(_function_of(mutant), ()))

        running: dict[int, str] = {}
        for mutant in sorted(self._mutants, key=cost):
            items = tests.get(_function_of(mutant))
            if not items:
                self.results[mutant] = "no tests"
                continue
            if len(running) >= self._jobs:
                self._wait(running)
            running[_fork(mutant, items, _SLOW + 10 * cost(mutant))] = mutant
        while running:
            self._wait(running)
        return True

    def _wait(self, running: dict[int, str]) -> None:
        process, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        outcome = "survived" if code == 0 else "timeout" if code == -signal.SIGXCPU else "killed"
        self.results[running.pop(process)] = outcome
        if len(self.results) % 50 == 0:
            _save(self.results)


def _function_of(mutant: str) -> str:
    return mutant.partition("__mutmut_")[0]


def _observe(items: Sequence[pytest.Item]) -> tuple[dict[str, list[pytest.Item]], dict[str, float]]:
    """Run all tests once; return the tests of each function, and how long each test takes."""
    state = import_module("mutmut.state").state()
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    seconds: dict[str, float] = {}
    _activate("stats")
    for item in items:
        state._stats.clear()
        start = time.process_time()
        if not _passes(item):
            raise pytest.UsageError(f"{item.nodeid} fails without a mutant")
        seconds[item.nodeid] = time.process_time() - start
        for function in state._stats:
            tests[function].append(item)
    _activate("")
    return tests, seconds


def _activate(mutant: str) -> None:
    # By name, because only `make mutation` installs mutmut.
    import_module("mutmut.mutation.trampoline").set_mutant_under_test(mutant)


def _passes(item: pytest.Item) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def _fork(mutant: str, items: Sequence[pytest.Item], limit: float) -> int:
    process = os.fork()
    if process:
        return process
    try:
        spent = int(time.process_time() + limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (spent, spent + 5))
        signal.alarm(int(limit * 20))  # for those that wait instead
        # Otherwise the tests get what the function returned before it was changed.
        _clear_caches()
        _activate(mutant)
        os._exit(0 if all(map(_passes, items)) else 1)
    finally:
        os._exit(1)


def _clear_caches() -> None:
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "carob"]
    for value in [value for module in modules for value in vars(module).values()]:
        if callable(clear := getattr(value, "cache_clear", None)):
            clear()


def _save(results: dict[str, str]) -> None:
    RESULTS.write_text(json.dumps(_load() | results, indent=0))


def _load() -> dict[str, str]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def _survivors(results: Mapping[str, str]) -> set[str]:
    return {mutant for mutant, outcome in results.items() if outcome == "survived"}


def _write_mutants(jobs: int) -> None:
    mutmut = import_module("mutmut.__main__")
    _activate("mutant_generation")
    TREE.mkdir(exist_ok=True)
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    mutmut.setup_source_paths()
    mutmut.create_mutants(jobs)


def _mutants_of(package: str) -> Iterator[str]:
    for file in sorted((TREE / "src/carob" / package).rglob("*.meta")):
        document: dict[str, Any] = json.loads(file.read_text())
        yield from document["exit_code_by_key"]


def main(arguments: Sequence[str]) -> None:
    """Test every n-th mutant of the packages with their tests, and print how many were killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=main.__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument("--every", type=int, default=1, help="test every n-th mutant")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant, from 0")
    parser.add_argument("--again", action="store_true", help="test only earlier survivors")
    parser.add_argument("--rest", action="store_true", help="test only what has no result yet")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    _write_mutants(options.jobs)
    known = _load()
    survivors = _survivors(known)
    mutants = [
        mutant
        for package in options.packages
        for mutant in [*_mutants_of(package)][options.first :: options.every]
        if (not options.again or mutant in survivors) and not (options.rest and mutant in known)
    ]
    os.chdir(TREE)
    run = MutantRun(mutants, options.jobs)
    pytest.main([*_OPTIONS, *(f"tests/{package}" for package in options.packages)], plugins=[run])
    _save(run.results)
    for package in options.packages:
        outcomes = Counter(
            outcome for name, outcome in run.results.items() if name.split(".")[1] == package
        )
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
        sys.stdout.write(f"{package}: {counts}\n")
    sys.stdout.writelines(f"{name}\n" for name in sorted(_survivors(run.results)))


if __name__ == "__main__":
    main(sys.argv[1:])
