"""CPU time of a complete run, from files to report, compared with `agentevals run`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.data import FOLDER
from bench.measure import CAROB, OURS, PEERS, Command, cpu_time, peak_memory, reported
from bench.row import Number, Row, at_most, faster
from bench.synthetic_traces import golden, synthetic_traces

_TRAJECTORY, _ROUGE = ("-m", "tool_trajectory_avg_score"), ("-m", "response_match_score")
_BOTH = (*_TRAJECTORY, *_ROUGE)
_AGENTEVALS = PEERS.parent / "agentevals"
_ORJSON = """
import sys, time, orjson
with open(sys.argv[1], "rb") as file:
    lines = file.readlines()
start = time.process_time()
for line in lines:
    orjson.loads(line)
print(time.process_time() - start)
"""


def measure() -> Iterator[Row]:
    """CPU time of both sides including child processes. One trace in seven fails.

    Runs are not saved, because agentevals cannot save them.
    """
    small = synthetic_traces("small", traces=10_000, tools=1, words=12), golden("small", tools=1)
    large = synthetic_traces("large", traces=1_000, tools=47, words=30), golden("large", tools=47)
    yield from _many("10,000 traces of 4 spans", *small, repeats=1, target=40)
    yield _memory(*small)
    yield from _many("1,000 traces of 96 spans", *large, repeats=1, target=12)
    one = synthetic_traces("small", traces=1, tools=1, words=12)
    yield from _one("trajectory", one, small[1], _TRAJECTORY, target=8)
    yield from _one("trajectory and ROUGE", one, small[1], _BOTH, target=30)
    yield _compare_with_decoding(*large)
    medium = synthetic_traces("medium", traces=6_250, tools=6, words=220), golden("medium", tools=6)
    yield _compare_with_decoding(*medium)


def _many(what: str, file: Path, cases: Path, *, repeats: int, target: float) -> Iterator[Row]:
    ours = min(_cpu_time(_carob(file, cases, _BOTH)) for _ in range(repeats + 2))
    theirs = min(_cpu_time(_agentevals(file, cases, _BOTH)) for _ in range(repeats))
    size = f"{file.stat().st_size / 1e6:.0f} MB"
    yield faster(
        f"CPU time: {what} ({size}), trajectory and ROUGE",
        Number(name="`carob run`", value=ours, unit="s"),
        Number(name="`agentevals run`", value=theirs, unit="s"),
        target=target,
    )


def _one(
    what: str, file: Path, cases: Path, metrics: tuple[str, ...], *, target: float
) -> Iterator[Row]:
    ours = min(_cpu_time(_carob(file, cases, metrics)) for _ in range(10))
    theirs = min(_cpu_time(_agentevals(file, cases, metrics)) for _ in range(3))
    yield faster(
        f"CPU time: one trace, {what}",
        Number(name="`carob run`", value=ours * 1000, unit="ms"),
        Number(name="`agentevals run`", value=theirs * 1000, unit="ms"),
        target=target,
    )


def _memory(file: Path, cases: Path) -> Row:
    """Peak memory of the largest process, with all cores in use."""
    return at_most(
        "Peak memory: 10,000 traces of 4 spans",
        Number(
            name="`carob run`",
            value=peak_memory(_carob(file, cases, _BOTH), fine=(0, 1)),
            unit="MB",
        ),
        Number(name="limit", value=150, unit="MB"),
        target=1,
    )


def _compare_with_decoding(file: Path, cases: Path) -> Row:
    ours = min(_cpu_time(_carob(file, cases, _BOTH, "--jobs", "1")) for _ in range(3))
    theirs = reported({"orjson": [OURS, "-c", _ORJSON, file]}, repeats=5)["orjson"]
    return at_most(
        f"CPU time: one core, {file.stat().st_size / 1e6:.0f} MB, trajectory and ROUGE",
        Number(name="`carob run --jobs 1`", value=ours, unit="s"),
        Number(name="`orjson.loads`, line by line", value=theirs, unit="s"),
        target=2.5,
    )


def _carob(file: Path, cases: Path, metrics: tuple[str, ...], *more: str) -> Command:
    return [CAROB, "run", file, "--golden", cases, *metrics, "--no-store", *more]


def _agentevals(file: Path, cases: Path, metrics: tuple[str, ...]) -> Command:
    return [_AGENTEVALS, "run", file, "--eval-set", cases, *metrics]


def _cpu_time(command: Command) -> float:
    """CPU seconds of a command and its processes. Exit code 1 is fine: some traces fail."""
    return cpu_time(command, folder=FOLDER, fine=(0, 1))
