"""The contract of both kinds of store for runs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from carob.errors import InputError, RefusedError
from carob.schema import Run, Trace, Turn
from carob.store import Database, open_store
from carob.store.blobs import save_traces
from carob.store.document import parse_document, split_run
from carob.store.history import find_execution
from carob.store.runs import read_run, save_execution
from carob.store.verify import verify
from tests.store.stored import find_trace

MakeRun = Callable[..., Run]


def count(database: Database, table: str) -> int:
    return next(database.rows(f"SELECT COUNT(*) FROM {table}"))[0]  # noqa: S608 - own names


def test_run_is_read_back_byte_for_byte(database: Database, make_run: MakeRun):
    run = make_run(1.0, None, 0.1 + 0.2, -0.0, 1e-300)
    execution = save_execution(database, split_run(run), {})
    assert read_run(database, execution) == msgspec.json.encode(run)


def test_run_without_cases_is_read_back(database: Database, make_run: MakeRun):
    run = replace(make_run(), cases=(), dataset=None)
    assert read_run(database, save_execution(database, split_run(run), {})) == msgspec.json.encode(
        run
    )


def test_unknown_fields_are_preserved(database: Database, make_run: MakeRun):
    run = make_run(1.0)
    text = msgspec.json.encode(run)[:-1] + b',"colour":{"of":["gold",1.50]}}'
    execution = save_execution(database, parse_document(text, "run.json"), {})
    assert read_run(database, execution) == text


def test_text_that_a_database_cannot_store_is_preserved(database: Database, make_run: MakeRun):
    run = make_run(1.0, tags=("x" * 5000, "x" * 5001, "nul\0", "é\u202e"))
    case = replace(run.cases[0], case="\0", trace="a\0b")
    run = replace(run, cases=(case,))
    execution = save_execution(database, split_run(run), {"branch": "b" * 5000})
    assert read_run(database, execution) == msgspec.json.encode(run)


def test_each_score_is_a_row_that_can_be_queried(database: Database, make_run: MakeRun):
    save_execution(database, split_run(make_run(1.0, 0.25, None)), {})
    sql = "SELECT metric, status, value, threshold FROM outcomes ORDER BY place"
    metric = "tool_trajectory_avg_score"
    assert list(database.rows(sql)) == [
        (metric, "passed", 1.0, 1.0),
        (metric, "failed", 0.25, 1.0),
        (metric, "unscored", None, 1.0),
    ]


def test_equal_results_are_stored_once_with_each_execution(database: Database, make_run: MakeRun):
    first = save_execution(database, split_run(make_run(created_at="2026-03-01T12:00:00Z")), {})
    second = save_execution(database, split_run(make_run(created_at="2026-03-02T12:00:00Z")), {})
    assert (count(database, "runs"), count(database, "cases")) == (1, 2)
    assert b"2026-03-01T12" in read_run(database, first)
    assert b"2026-03-02T12" in read_run(database, second)


def test_different_results_under_the_same_id_are_an_error(database: Database, make_run: MakeRun):
    run = make_run(0.5)
    save_execution(database, split_run(run), {})
    forged = replace(make_run(0.6), id=run.id)
    with pytest.raises(RefusedError, match="already exists with different results"):
        save_execution(database, split_run(forged), {})
    assert count(database, "executions") == 1


def test_run_without_a_timestamp_is_an_error(database: Database, make_run: MakeRun):
    with pytest.raises(InputError, match="created_at is 'yesterday'"):
        save_execution(database, split_run(make_run(created_at="yesterday")), {})
    assert count(database, "runs") == 0


def test_dataset_versions_are_stored(database: Database, make_run: MakeRun):
    for name in ("shop", "shop", "bikes"):
        save_execution(database, split_run(make_run(dataset=name)), {})
    sql = "SELECT name, version, digest, format FROM datasets ORDER BY name"
    assert list(database.rows(sql)) == [
        ("bikes", "1.0.0", "sha256:bikes", "adk"),
        ("shop", "1.0.0", "sha256:shop", "adk"),
    ]


def test_traces_of_a_run_are_stored_once(database: Database, make_run: MakeRun):
    trace = Trace(id="trace_1", turns=(Turn(user="Hi", response="Hello"),))
    executions = [
        save_execution(database, split_run(make_run(1.0, value)), {}) for value in (0.5, 0.6)
    ]
    for execution in executions:
        assert save_traces(database, execution, [trace, Trace(id="of nobody")]) == 1
    assert count(database, "traces") == 1
    assert find_trace(database, executions[1], 1) == trace
    assert find_trace(database, executions[1], 0) is None


def test_traces_are_stored_without_the_ids_of_all_cases_in_memory(
    database: Database, make_run: MakeRun
):
    execution = save_execution(database, split_run(make_run(*[1.0] * 5_000)), {})
    for traces, limit in (([], 100_000), ([Trace(id="trace_1")], 600_000)):
        tracemalloc.start()
        try:
            assert save_traces(database, execution, iter(traces)) == len(traces)
            assert tracemalloc.get_traced_memory()[1] < limit
        finally:
            tracemalloc.stop()
    assert find_trace(database, execution, 1) == Trace(id="trace_1")


def test_store_persists_after_closing(store_url: str, make_run: MakeRun):
    with open_store(store_url, create=True) as database:
        save_execution(database, split_run(make_run()), {})
    with open_store(store_url) as database:
        assert read_run(database, find_execution(database, "latest")) == msgspec.json.encode(
            make_run()
        )
        assert verify(database).problems == ()
