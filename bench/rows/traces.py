"""Time and memory of reading trace files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.captured_traces import captured_traces
from bench.measure import OURS, PEERS, peak_memory, reported
from bench.row import Number, Row, at_most, faster
from bench.synthetic_traces import synthetic_traces

_OURS = """
import sys, time
from pathlib import Path
from carob.traces.read import open_traces

def read(path, jobs):
    with open_traces([Path(path)], report=lambda problem: None, jobs=jobs) as found:
        return sum(len(trace.turns) for trace in found)

if __name__ == "__main__":
    read(sys.argv[2], 1)
    start = time.perf_counter()
    turns = read(sys.argv[1], int(sys.argv[3]))
    print(time.perf_counter() - start)
    assert turns > 0
"""
_ORJSON = """
import sys, time, orjson
with open(sys.argv[1], "rb") as file:
    lines = file.readlines()
start = time.perf_counter()
for line in lines:
    orjson.loads(line)
print(time.perf_counter() - start)
"""
_ORJSON_DEEP = """
import sys, time, orjson

def attributes(value):
    if isinstance(value, list):
        for item in value:
            yield from attributes(item)
    elif isinstance(value, dict):
        text = value.get("stringValue")
        if text is not None:
            yield text
        else:
            for item in value.values():
                yield from attributes(item)

with open(sys.argv[1], "rb") as file:
    lines = file.readlines()
texts = [
    text
    for line in lines
    for text in attributes(orjson.loads(line))
    if text[:1] in ("{", "[")
]
start = time.perf_counter()
for line in lines:
    orjson.loads(line)
for text in texts:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
print(time.perf_counter() - start)
"""
_AGENTEVALS = """
import logging, sys, time
from agentevals.genai.extract import extract_conversation
from agentevals.loader import load_traces
logging.disable(logging.CRITICAL)

def read(path):
    return [extract_conversation([trace], trace.trace_id) for trace in load_traces(path)]

read(sys.argv[2])
start = time.perf_counter()
found = read(sys.argv[1])
print(time.perf_counter() - start)
assert found
"""
_WITH_USER = """
import logging, sys
from agentevals.genai.extract import extract_conversation
from agentevals.loader import load_traces
logging.disable(logging.CRITICAL)
found = [extract_conversation([trace], trace.trace_id) for trace in load_traces(sys.argv[1])]
with_user = [one for one in found if any(turn.user_input for turn in one.turns)]
print(len(with_user) / len(found))
"""


def measure() -> Iterator[Row]:
    """A small file is read first to warm up."""
    yield from _compare_with_decoding()
    yield _compare_with_agentevals(
        synthetic_traces("medium", traces=600, tools=6, words=220), "OTel GenAI"
    )
    yield _compare_with_agentevals(captured_traces(20), "captures of all conventions")
    yield _memory()
    yield _cores()


def _compare_with_decoding() -> Iterator[Row]:
    """Mapping needs most of the JSON that recorders write into attributes, so that decoding the
    lines alone is less than the work that has to be done."""
    files = (captured_traces(200), captured_traces(1))
    commands = {
        "carob": [OURS, "-c", _OURS, *files, "1"],
        "orjson": [OURS, "-c", _ORJSON, *files],
        "orjson, attributes": [OURS, "-c", _ORJSON_DEEP, *files],
    }
    best = reported(commands, repeats=3)
    title = "Reading traces: 200 MB of OTLP JSON lines, one core"
    ours = Number(name="carob", value=best["carob"], unit="s")
    lines = Number(name="`orjson.loads` of the same lines", value=best["orjson"], unit="s")
    yield at_most(title, ours, lines, target=2)
    deep = Number(
        name="`orjson.loads` of the lines and of the JSON in their attributes",
        value=best["orjson, attributes"],
        unit="s",
    )
    yield at_most(f"{title}, with the JSON in attributes", ours, deep, target=3)


def _compare_with_agentevals(file: Path, what: str) -> Row:
    """A reader that finds fewer user messages has less to do, so the title says how many."""
    commands = {
        "carob": [OURS, "-c", _OURS, file, captured_traces(1), "1"],
        "agentevals": [PEERS, "-c", _AGENTEVALS, file, captured_traces(1)],
    }
    best = reported(commands, repeats=3)
    found = reported({"agentevals": [PEERS, "-c", _WITH_USER, file]}, repeats=1)["agentevals"]
    return faster(
        f"Reading traces: 20 MB of {what}, one core (agentevals finds the user in {found:.0%})",
        Number(name="carob", value=best["carob"], unit="s"),
        Number(name="agentevals 0.11", value=best["agentevals"], unit="s"),
        target=12,
    )


def _memory() -> Row:
    used = peak_memory([OURS, "-c", _OURS, captured_traces(1000), captured_traces(1), "1"])
    return at_most(
        "Peak memory: reading 1 GB of OTLP JSON lines",
        Number(name="carob", value=used, unit="MB"),
        Number(name="limit", value=300, unit="MB"),
        target=1,
    )


def _cores() -> Row:
    files = (captured_traces(200), captured_traces(1))
    commands = {number: [OURS, "-c", _OURS, *files, number] for number in ("1", "2")}
    best = reported(commands, repeats=2)
    return faster(
        "Reading traces: 200 MB of OTLP JSON lines, two processes",
        Number(name="two processes", value=best["2"], unit="s"),
        Number(name="one process", value=best["1"], unit="s"),
        target=1.3,
    )
