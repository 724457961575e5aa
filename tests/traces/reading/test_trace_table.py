from __future__ import annotations

import random
from pathlib import Path

import pytest

from carob.schema import Trace
from carob.traces.reading.collection import Collection
from carob.traces.reading.spill import SpilledTrace
from carob.traces.reading.trace_set import group_sessions
from carob.traces.reading.trace_table import CollectedTrace, SilentTrace, TraceTable


def trace(number: int, *, conversation: str | None = None, used: bool = True) -> CollectedTrace:
    slot = SpilledTrace("file", number, 1) if used else None
    return CollectedTrace(f"t{number}", slot, number % 7, conversation)


TRACES = [
    *(trace(number) for number in range(40)),
    *(trace(number, conversation=f"c{number % 3}") for number in range(40, 60)),
    trace(60, used=False),
    CollectedTrace("t61", Trace(id="in memory"), -(10**40)),
    CollectedTrace("t62", SpilledTrace("file", 62, 1), blank="GenAI", is_empty=True),
]


def fill(path: Path, in_memory: int) -> TraceTable:
    table = TraceTable(lambda: path, in_memory)
    shuffled = random.Random(2).sample(TRACES, len(TRACES))  # noqa: S311 - not a secret
    for item in shuffled:
        table[item.id] = item
    return table


@pytest.mark.parametrize("in_memory", [5, 1000])
def test_traces_are_found_removed_and_counted_wherever_they_are(tmp_path: Path, in_memory: int):
    table = fill(tmp_path / "table", in_memory)
    assert table.is_large == (in_memory == 5)
    assert (len(table), sorted(table)) == (63, sorted(item.id for item in TRACES))
    assert all(table[item.id] == item for item in TRACES)
    assert "unknown" not in table
    assert table.pop("t3", None) == TRACES[3]
    assert "t3" not in table
    assert table.pop("t3", None) is None
    with pytest.raises(KeyError):
        del table["t3"]
    table["t3"] = TRACES[3]
    silent = [SilentTrace("t60", False, None), SilentTrace("t62", True, "GenAI")]
    assert sorted(table.silent()) == silent
    assert table.has_turns()


@pytest.mark.parametrize("in_memory", [0, 1000])
def test_traces_without_a_turn_are_known_wherever_they_are(tmp_path: Path, in_memory: int):
    table = TraceTable(lambda: tmp_path / "table", in_memory)
    assert not table.has_turns()
    table["t62"] = TRACES[62]
    assert (table.is_large, table.has_turns()) == (in_memory == 0, False)
    table["t1"] = TRACES[1]
    assert table.has_turns()


def test_sessions_are_the_same_in_memory_and_on_disk(tmp_path: Path):
    few, many = (Collection(spans=fill(tmp_path / f"{size}", size)) for size in (1000, 5))
    for collection in (few, many):
        collection.ready_traces = [CollectedTrace("t1", SpilledTrace("b", 2, 3), 5, digest=b"x")]
        collection.ready_traces += [
            CollectedTrace(f"{3 - place}", SpilledTrace("r", place, 1), 0, "rows", place=f"{place}")
            for place in range(3)
        ]
    expected = group_sessions(few)
    assert [*group_sessions(many)] == [*expected]
    assert [session.id for session in expected][:2] == ["t61", "c0"]
    (rows,) = [session for session in expected if session.id == "rows"]
    assert [slot.start for slot in rows.slots if isinstance(slot, SpilledTrace)] == [0, 1, 2]
