from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from carob.runner.job import Batch
from carob.runner.pairing import Pair
from carob.runner.spool import TraceSpool
from carob.schema import Case, Trace, Turn
from carob.schema.trace import Span


def trace(number: int) -> Trace:
    return Trace(id=f"t{number}", turns=(Turn(user="Hello", response=f"Hi {number}!"),))


def read(*numbers: int) -> Iterator[Trace]:
    yield from map(trace, numbers)


def test_traces_are_copied_while_reading_and_returned_in_order(tmp_path: Path):
    spool = TraceSpool(tmp_path, [partial(read, 1, 2), partial(read, 3)])
    assert list(spool.batches[1]()) == [trace(3)]
    assert list(spool.batches[0]()) == [trace(1), trace(2)]
    assert list(spool.traces()) == [trace(1), trace(2), trace(3)]


def test_traces_that_can_be_read_once_are_returned_from_their_copies(tmp_path: Path):
    batches: list[Batch] = [partial(next, iter([[trace(number)]])) for number in range(3)]
    spool = TraceSpool(tmp_path, batches)
    scored = [trace for batch in reversed(spool.batches) for trace in batch()]
    assert scored == [trace(2), trace(1), trace(0)]
    assert list(spool.traces()) == [trace(0), trace(1), trace(2)]


def test_pair_is_forwarded_and_its_trace_is_copied(tmp_path: Path):
    pair = Pair(Case(id="c"), trace(1), "the same row")
    spool = TraceSpool(tmp_path, [lambda: [pair]])
    assert list(spool.batches[0]()) == [pair]
    assert list(spool.traces()) == [trace(1)]


def test_batch_that_an_earlier_attempt_scored_is_read_again(tmp_path: Path):
    batches: list[Batch] = [partial(read, 1), partial(read, 2)]
    spool = TraceSpool(tmp_path, batches)
    list(spool.batches[1]())
    assert list(spool.traces()) == [trace(1), trace(2)]


def test_spans_that_were_read_for_the_copy_are_not_scored(tmp_path: Path):
    whole = msgspec.structs.replace(trace(1), spans=(Span(trace_id="t", span_id="1"),))
    assert list(TraceSpool(tmp_path, [lambda: [whole]]).batches[0]()) == [whole]
    row = Pair(Case(id="c"), trace(2), "the same row")
    spool = TraceSpool(tmp_path, [lambda: [whole, trace(3), row]], drop_spans=True)
    assert list(spool.batches[0]()) == [trace(1), trace(3), row]
    assert list(spool.traces()) == [whole, trace(3), trace(2)]
