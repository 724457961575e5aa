"""The spans of every stored recording, for tests that must hold for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from carob.errors import CarobError
from carob.schema import Span, Trace
from carob.schema.problem import ignore
from carob.traces.containers.detect import read_items
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import assemble
from carob.traces.reading.json_values import read_values

TESTS = Path(__file__).parents[1]
FOLDERS = (TESTS / "traces" / "conventions" / "captures", TESTS / "captures" / "recordings")


class RecordedTrace(NamedTuple):
    """The spans of one trace, and what they are read as."""

    file: str
    spans: tuple[Span, ...]
    trace: Trace


@cache
def recorded_traces() -> tuple[RecordedTrace, ...]:
    """Return the traces of all recordings that consist of spans."""
    return tuple(
        RecordedTrace(path.name, spans, traces[0])
        for folder in FOLDERS
        for path in sorted(folder.glob("*.jsonl*"))
        for spans in _read_spans(path)
        if (traces := to_traces(spans))
    )


def _read_spans(path: Path) -> Iterator[tuple[Span, ...]]:
    try:
        records = list(read_items(read_values(path, report=ignore), source=path.name))
    except CarobError:
        return
    loose = [record for record in records if not isinstance(record, Trace)]
    yield from assemble(loose, source="", report=ignore).values()


def order(spans: list[Span]) -> tuple[Span, ...]:
    """Return spans as reading a file with exactly these would."""
    return next(iter(assemble(spans, source="", report=ignore).values()), ())
