"""Time to recognize and read recordings of each program, alone and mixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.measure import OURS, reported
from bench.row import Number, Row, at_most

_SAMPLES = Path(__file__).parents[2] / "tests" / "samples" / "traces" / "recordings"
_READ = """
import sys, time
from pathlib import Path
from carob.traces.containers.detect import read_items
from carob.traces.reading.json_values import read_values

def read(paths, times):
    values = [value for path in paths for value in read_values(path, report=lambda problem: None)]
    start = time.perf_counter()
    for _ in range(times):
        records = list(read_items(values, source="f"))
    assert records
    return (time.perf_counter() - start) / times

times, *names = sys.argv[1:]
paths = [Path(name) for name in names]
read(paths, 1)  # loads the containers
print(1000 * read(paths, int(times)))
"""


def measure() -> Iterator[Row]:
    """The more containers there are, the more are asked before the right one."""
    samples = sorted(_SAMPLES.iterdir())
    limit = Number(name="limit", value=2, unit="ms")
    for sample in samples:
        value = reported({"carob": [OURS, "-c", _READ, "200", sample]}, repeats=3)["carob"]
        yield at_most(
            f"Recognizing a trace file: {sample.name}",
            Number(name="carob", value=value, unit="ms"),
            limit,
            target=1,
        )
    yield _mix(samples)


def _mix(samples: list[Path]) -> Row:
    commands = {
        "once": [OURS, "-c", _READ, "20", *samples],
        "ten times": [OURS, "-c", _READ, "20", *(10 * samples)],
    }
    best = reported(commands, repeats=3)
    return at_most(
        f"Recognizing trace files of {len(samples)} programs, mixed",
        Number(name="ten of each", value=best["ten times"], unit="ms"),
        Number(name="one of each", value=best["once"], unit="ms"),
        target=13,
    )
