"""Memory of all processes of each command that handles many cases or traces, and how it grows.

`CAROB_BENCH_CASES=1000000 python -m bench growth` measures up to a million, which takes long.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.data import FOLDER
from bench.measure import CAROB, Command, tree_memory
from bench.outcomes import keep_pairs
from bench.row import Number, Row, at_most
from bench.synthetic_traces import golden, synthetic_traces

_SMALL = 10_000
_LARGE = int(os.environ.get("CAROB_BENCH_CASES", "100000"))
_RUN = 250.0
_DATASET = 200.0 if _LARGE <= 100_000 else 400.0
_COMPARE = 500.0
_FORMS = ("json", "csv", "md", "junit", "sarif", "html")
_LIMITS: Mapping[str, float] = {
    "run --jobs 1": _RUN,
    "run --jobs 2": _RUN,
    "run --jobs 1, ten traces to a case": _RUN,
    "run --jobs 2, ten traces to a case": _RUN,
    **{f"run --format {form}": _RUN for form in _FORMS},
    "compare": _COMPARE,
    "compare --format json": _COMPARE,
    "gate --baseline": _COMPARE,
    "leaderboard": _COMPARE,
    "traces --format json": _RUN,
    "capture": _RUN,
}
"""MB of all processes; `_DATASET` for every other command."""
_FINE = (0, 1)
"""A run with failures exits with 1, and so does a comparison with a regression."""


def measure() -> Iterator[Row]:
    """The peak of each command against its limit, and against ten times fewer cases."""
    peaks = {size: dict(_peaks(size)) for size in (_SMALL, _LARGE)}
    for name, large in peaks[_LARGE].items():
        limit = _LIMITS.get(name, _DATASET)
        ours = Number(name=f"`carob {name}`", value=large, unit="MB")
        title = f"Peak memory of all processes, {_LARGE:,} cases: `{name}`"
        yield at_most(title, ours, Number(name="limit", value=limit, unit="MB"), target=1)
        small = peaks[_SMALL][name] / _SMALL
        yield at_most(
            f"Memory per case, {_LARGE:,} cases against {_SMALL:,}: `{name}`",
            Number(name=f"{_LARGE:,} cases, per 1,000", value=1000 * large / _LARGE, unit="MB"),
            Number(name=f"{_SMALL:,} cases, per 1,000", value=1000 * small, unit="MB"),
            target=1.2,
        )


def _peaks(size: int) -> Iterator[tuple[str, float]]:
    folder = FOLDER / f"growth-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, command in _commands(size, folder).items():
        yield name, tree_memory([CAROB, *command], folder=folder, fine=_FINE)


def _commands(size: int, folder: Path) -> dict[str, Command]:
    data = golden(f"unique-{size}", tools=1, cases=size)
    edited = golden(f"unique-{size}-edited", tools=1, cases=size, edited=100)
    traces = synthetic_traces("unique", traces=size, tools=1, words=12, cases=size)
    released = folder / "released.json"
    shutil.copy(data, released)
    pair, stored = [f"side:{side}-{size}" for side in ("before", "after")], ["--store", "pair.db"]
    keep_pairs(str(folder / "pair.db"), [size], ("score", "pass"))
    run = ["run", traces, "--golden", data, "-m", "tool_trajectory_avg_score"]
    repeats = _run_of_repeats(size)
    return {
        "run --jobs 1": [*run, "--jobs", "1"],
        "run --jobs 2": [*run, "--jobs", "2", "--label", "jobs=2"],
        "run --jobs 1, ten traces to a case": [*repeats, "--jobs", "1"],
        "run --jobs 2, ten traces to a case": [*repeats, "--jobs", "2", "--label", "jobs=2"],
        **{
            f"run --format {form}": [*run, "--format", form, "-o", f"run.{form}"] for form in _FORMS
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
