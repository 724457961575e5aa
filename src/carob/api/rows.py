"""The recordings that golden data carries beside its cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module

from carob.runner.pairing import Pair
from carob.schema import Case


def rows(cases: Iterable[Case]) -> Iterator[Pair]:
    """The cases that were recorded, with their recordings: these need no pairing."""
    # Most runs read traces, and start sooner without the reader of tables.
    simulation = import_module("carob.traces.containers.simulation")
    for case in cases:
        if case.recording:
            yield Pair(case, simulation.with_spans(case.recording), "the same row")
