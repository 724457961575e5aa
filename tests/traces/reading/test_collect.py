"""What a process has read, as it is sent to the one that merges it."""

from __future__ import annotations

import pickle

from carob.schema import Problem, Trace, Turn
from carob.traces.reading.collection import Collection
from carob.traces.reading.spill import SpilledTrace
from carob.traces.reading.stream import FileRange
from carob.traces.reading.trace_table import CollectedTrace


def test_collection_is_the_same_in_another_process():
    ranges = (FileRange(0, 10, 20), FileRange(1, 0, 5))
    spilled = CollectedTrace("t1", SpilledTrace("spill", 4, 9), 1794000000 * 10**9, "c1", ranges)
    idle = CollectedTrace("t2", None, ranges=ranges[:1], is_empty=True)
    huge = CollectedTrace("t3", Trace(id="t3", turns=(Turn(user="Hi"),)), 10**40, digest=b"\0d")
    collection = Collection(
        {"t1": spilled, "t2": idle},
        [huge],
        [Problem(where="a.jsonl:3", message="not an object")],
        {"t4": ranges},
        orphan_logs=3,
        untraced_spans=2,
        log_only_traces=1,
        idle_names={"GET /": 4},
        idle_keys={"http.route": 4},
    )
    sent = pickle.dumps(collection)
    assert pickle.loads(sent) == collection  # noqa: S301 - written by this test
