"""Memory and CPU time of each command that handles many cases or traces, and how they grow.

`CAROB_BENCH_CASES=1000000 python -m bench growth` measures up to a million, which takes an hour.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from bench.data import FOLDER
from bench.measure import CAROB, Command, Cost, tree_cost
from bench.outcomes import keep_pairs
from bench.row import Number, Row, at_most
from bench.synthetic_traces import golden, synthetic_traces

_LARGEST = int(os.environ.get("CAROB_BENCH_CASES", "100000"))
_SIZES = [size for size in (10_000, 100_000, 1_000_000) if size <= _LARGEST]
_RUN = 250.0
_COMPARE = 500.0
_FORMS = ("text", "json", "csv", "md", "junit", "sarif", "html")
_LIMITS: Mapping[str, float] = {
    "run --jobs 1": _RUN,
    "run --jobs 2": _RUN,
    "run --jobs 1, ten traces to a case": _RUN,
    "run --jobs 2, ten traces to a case": _RUN,
    "run --format json": _RUN,
    **{f"report --format {form}": _RUN for form in _FORMS},
    "compare": _COMPARE,
    "compare --format json": _COMPARE,
    "gate --baseline": _COMPARE,
    "leaderboard": _COMPARE,
    "traces --format json": _RUN,
    "capture": _RUN,
}
"""MB of all processes; the other commands handle datasets."""
_FINE = (0, 1)
"""A run with failures exits with 1, and so does a comparison with a regression."""


def measure() -> Iterator[Row]:
    """The peak of each command against its limit, and the CPU time of a case against that with ten
    times fewer cases."""
    costs = {size: dict(_costs(size)) for size in _SIZES}
    for name in costs[_SIZES[0]]:
        for size in _SIZES[1:]:
            peak = Number(name=f"{size:,} cases", value=costs[size][name].memory, unit="MB")
            limit = Number(name="limit", value=_limit(name, size), unit="MB")
            yield at_most(f"Peak memory of all processes: `{name}`", peak, limit, target=1)
        for fewer, size in pairwise(_SIZES):
            yield at_most(
                f"CPU time for each 1,000 cases: `{name}`",
                _seconds_per_thousand(size, costs[size][name]),
                _seconds_per_thousand(fewer, costs[fewer][name]),
                target=1.2,
            )


def _limit(name: str, size: int) -> float:
    return _LIMITS.get(name, 200.0 if size <= 100_000 else 400.0)


def _seconds_per_thousand(size: int, cost: Cost) -> Number:
    return Number(name=f"{size:,} cases", value=1e6 * cost.seconds / size, unit="ms")


def _costs(size: int) -> Iterator[tuple[str, Cost]]:
    folder = FOLDER / f"growth-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, command in _commands(size, folder).items():
        sys.stderr.write(f"  {size:,} cases: {name}\n")
        yield name, tree_cost([CAROB, *command], folder=folder, fine=_FINE)


def _commands(size: int, folder: Path) -> dict[str, Command]:
    data = golden(f"unique-{size}", tools=1, cases=size)
    edited = golden(f"unique-{size}-edited", tools=1, cases=size, edited=100)
    traces = synthetic_traces("unique", traces=size, tools=1, words=12, cases=size)
    released = folder / "released.json"
    shutil.copy(data, released)
    pair, stored = [f"side:{side}-{size}" for side in ("before", "after")], ["--store", "pair.db"]
    keep_pairs(str(folder / "pair.db"), [size], ("score", "pass"))
    run = ["run", traces, "--golden", data, "-m", "tool_trajectory_avg_score"]
    report = ["report", "jobs:auto", "--golden", data]
    repeats = _run_of_repeats(size)
    return {
        "run --jobs 1": [*run, "--jobs", "1"],
        "run --jobs 2": [*run, "--jobs", "2", "--label", "jobs=2"],
        "run --jobs 1, ten traces to a case": [*repeats, "--jobs", "1"],
        "run --jobs 2, ten traces to a case": [*repeats, "--jobs", "2", "--label", "jobs=2"],
        "run --format json": [*run, "--format", "json", "-o", "run.json", "--label", "jobs=auto"],
        **{
            f"report --format {form}": [*report, "--format", form, "-o", f"report.{form}"]
            for form in _FORMS
        },
        "compare": ["compare", *pair, *stored],
        "compare --format json": ["compare", *pair, *stored, "--format", "json", "-o", "c.json"],
        "gate --baseline": ["gate", pair[1], "--baseline", pair[0], *stored],
        "leaderboard": ["leaderboard", *pair, *stored],
        "convert (adk to csv)": ["convert", data, "converted.csv", "--to", "csv"],
        "convert (adk to questions)": ["convert", data, "converted.json", "--to", "questions"],
        "convert (csv to adk)": ["convert", "converted.csv", "back.json", "--to", "adk"],
        "validate": ["validate", data],
        "diff": ["diff", data, edited],
        "subset": ["subset", data, "subset.json", "--where", "len(turns) > 0"],
        "lint": ["lint", data],
        "release": ["release", released, "--no-lint"],
        "traces --format json": ["traces", traces, "--format", "json", "-o", "traces.json"],
        "capture": ["capture", traces, "captured.json", "--to", "adk"],
    }


def _run_of_repeats(size: int) -> Command:
    """A run with as many traces as other commands, and a tenth of the cases."""
    cases = size // 10
    data = golden(f"repeated-{cases}", tools=1, cases=cases)
    traces = synthetic_traces("repeated", traces=size, tools=1, words=12, cases=cases)
    return ["run", traces, "--golden", data, "-m", "tool_trajectory_avg_score"]
