"""How long until the command answers."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import CAROB, OURS, race
from bench.row import Number, Row, at_most


def measure() -> Iterator[Row]:
    """`carob --help` beside the import of the library that parses its options."""
    best = race(
        {"carob": [CAROB, "--help"], "click": [OURS, "-c", "import click"]},
        repeats=25,
    )
    yield at_most(
        "Start-up",
        Number(name="`carob --help`", value=best["carob"] * 1000, unit="ms"),
        Number(name='`python -c "import click"`', value=best["click"] * 1000, unit="ms"),
        target=1.25,
    )
