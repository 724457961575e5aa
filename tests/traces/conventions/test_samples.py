"""Captures of real instrumentations around a scripted model, with known expected traces."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from carob.schema import Json, Trace, Turn, Usage
from carob.traces.containers.detect import read_items
from carob.traces.mapping.traces import to_traces
from carob.traces.reading.assemble import assemble
from carob.traces.reading.json_values import read_values

HERE = Path(__file__).parent
CAPTURES = sorted((HERE / "captures").iterdir())


def traces(path: Path) -> list[Trace]:
    records = read_items(read_values(path, report=lambda problem: None), source=path.name)
    loose = (record for record in records if not isinstance(record, Trace))
    spans_by_trace = assemble(loose, source="", report=lambda problem: None)
    return [
        trace for spans in spans_by_trace.values() for trace in to_traces(spans, source=path.name)
    ]


def describe_trace(trace: Trace) -> dict[str, Json]:
    return {
        "convention": trace.convention,
        "conversation": trace.conversation,
        "sources": {**trace.sources},
        "turns": [describe_turn(turn) for turn in trace.turns],
    }


def describe_turn(turn: Turn) -> dict[str, Json]:
    calls = [{"id": c.id, "name": c.name, "args": c.args} for c in turn.tool_calls or ()]
    results = [
        {"id": r.id, "name": r.name, "result": r.result, "error": r.error}
        for r in turn.tool_results
    ]
    return {
        "user": turn.user,
        "response": turn.response,
        "agents": list(turn.agents),
        "tool_calls": [*calls],
        "tool_results": [*results],
        "models": list(dict.fromkeys(call.model for call in turn.model_calls)),
        "usage": msgspec.to_builtins(Usage.total(call.usage for call in turn.model_calls)),
    }


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_each_capture_gives_the_expected_trace(path: Path):
    expected = HERE / "expected" / f"{path.name.removesuffix('.otlp.jsonl')}.json"
    assert [describe_trace(trace) for trace in traces(path)] == msgspec.json.decode(
        expected.read_bytes()
    )


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_mapper_and_its_version_are_recorded(path: Path):
    for trace in traces(path):
        assert re.fullmatch(rf"{trace.convention}@\d+", trace.mapper or "")


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_turn_lasts_as_long_as_its_calls(path: Path):
    for turn in (turn for trace in traces(path) for turn in trace.turns):
        starts = [
            call.start for call in (*turn.model_calls, *(turn.tool_calls or ())) if call.start
        ]
        assert turn.start is not None
        assert turn.end is not None
        assert turn.start <= min(starts) <= turn.end
