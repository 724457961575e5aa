"""Memory does not grow with the size of the file."""

from __future__ import annotations

from collections.abc import Iterator

from bench.data import explain, table
from bench.measure import CAROB, peak_memory
from bench.row import Number, Row, at_most


def measure() -> Iterator[Row]:
    """`carob validate` on files of 50 MB and of 500 MB."""
    for name, make in (("JSONL (`explain`)", explain), ("CSV (`csv`)", table)):
        small, large = (peak_memory([CAROB, "validate", make(size)]) for size in (50, 500))
        yield at_most(
            f"Peak memory: `carob validate`, {name}",
            Number(name="500 MB file", value=large, unit="MB"),
            Number(name="50 MB file", value=small, unit="MB"),
            target=1.3,
        )
