"""The same conversation as many programs record it: each must give the same turn."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from carob.schema import Json, Problem, Trace
from carob.traces.read import read_traces

SAMPLES = Path(__file__).parents[2] / "samples" / "traces" / "recordings"
PATHS = sorted(SAMPLES.iterdir())
USER = "Where is my order MB-20418?"
RESPONSE = "It shipped and arrives on Thursday."
NO_CALLS = {"sharegpt.json"}
"""Files whose format records what was said only: their tool calls are unknown."""
NO_USAGE = {"vertex_eval.json", "openhands.jsonl", *NO_CALLS}

NO_MODEL = {"letta.json", *NO_USAGE}


def read(path: Path) -> list[Trace]:
    problems: list[Problem] = []
    traces = list(read_traces([path], report=problems.append))
    assert problems == []
    return traces


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_recording_gives_the_same_turn(path: Path):
    (trace,) = read(path)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == (USER, RESPONSE)
    if path.name in NO_CALLS:
        assert turn.tool_calls is None
        return
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("lookup_order", {"order_id": "MB-20418"})
    ]
    assert [(item.name, item.result, item.error) for item in turn.tool_results] == [
        ("lookup_order", {"status": "shipped"}, None)
    ]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_recording_counts_its_tokens_once(path: Path):
    (trace,) = read(path)
    usage = (trace.usage.input_tokens, trace.usage.output_tokens)
    assert usage == ((None, None) if path.name in NO_USAGE else (240, 32))
    assert trace.models == (() if path.name in NO_MODEL else ("atlas-2",))


def test_inspect_archive_is_read_sample_by_sample(tmp_path: Path):
    log: dict[str, Json] = json.loads((SAMPLES / "inspect.json").read_bytes())
    path = tmp_path / "orders.eval"
    write_archive(path, log)
    assert [trace.turns for trace in read(path)] == [
        trace.turns for trace in read(SAMPLES / "inspect.json")
    ]


def write_archive(path: Path, log: dict[str, Json]) -> None:
    samples = log["samples"]
    assert isinstance(samples, list)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        archive.writestr("samples/order_epoch_1.json", json.dumps(samples[0]))
        archive.writestr("summaries.json", json.dumps([{"id": "order", "epoch": 1}]))
