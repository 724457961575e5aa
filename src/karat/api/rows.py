"""The recordings that golden data carries beside its cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from karat.runner.pairing import Pair
from karat.schema import Case
from karat.traces.formats.simulation import with_spans


def rows(cases: Iterable[Case]) -> Iterator[Pair]:
    """The cases that were recorded, with their recordings: these need no pairing."""
    for case in cases:
        if case.recording:
            yield Pair(case, with_spans(case.recording), "the same row")
