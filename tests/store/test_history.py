from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from carob.errors import InputError, UsageError
from carob.files.timestamps import parse_time
from carob.schema import Run
from carob.store import Database, open_store
from carob.store.document import microseconds, split_run
from carob.store.history import (
    HistoryQuery,
    count_matches,
    count_status,
    find_execution,
    history_page,
    label_execution,
)
from carob.store.runs import save_execution

MakeRun = Callable[..., Run]


def fill(database: Database, make_run: MakeRun, number: int = 5) -> list[str]:
    """Save a run for each day from the first of March; return their ids."""
    runs = [
        make_run(
            0.001 * day,
            created_at=f"2026-03-{day:02}T12:00:00Z",
            dataset="bikes" if day % 2 else "shop",
            tags=("refund",) if day > 2 else (),
            agents=("billing",) if day == 3 else (),
        )
        for day in range(1, number + 1)
    ]
    for day, run in enumerate(runs, 1):
        save_execution(database, split_run(run), {"branch": "main" if day < 4 else "fix"})
    return [run.id for run in runs]


def listed(database: Database, *facets: tuple[str, str], since: int = 0) -> list[str]:
    page = history_page(database, HistoryQuery(facets=facets, since=since), limit=100)
    return [run.id for run in page.runs]


def test_history_is_newest_first(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)
    assert listed(database) == ids[::-1]


def test_run_is_listed_with_counts_and_labels(database: Database, make_run: MakeRun):
    save_execution(database, split_run(make_run(1.0, 0.5)), {"branch": "main", "who": "a=b"})
    (entry,) = history_page(database, HistoryQuery(), limit=1).runs
    assert (entry.dataset, entry.version, entry.verdict) == ("shop", "1.0.0", "failed")
    assert (entry.cases.total, entry.cases.passed, entry.cases.failed) == (2, 1, 1)
    assert entry.means == {"tool_trajectory_avg_score": 0.75}
    assert entry.labels == {"branch": "main", "who": "a=b"}


def test_equal_runs_with_different_labels_have_addresses_of_their_own(
    database: Database, make_run: MakeRun
):
    saved = {
        name: save_execution(database, split_run(make_run(1.0)), {"model": name})
        for name in ("small", "large", "huge")
    }
    runs = history_page(database, HistoryQuery(), limit=10).runs
    assert len({run.id for run in runs}) == 1
    addresses = [run.address for run in runs]
    assert addresses == [runs[0].id, f"{runs[0].id}~1", f"{runs[0].id}~2"]
    for run in runs:
        execution = saved[run.labels["model"]]
        assert find_execution(database, run.address) == execution
        assert find_execution(database, f"model:{run.labels['model']}") == execution


def test_next_page_continues_after_the_last_run(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)
    same_time = make_run(0.9, created_at="2026-03-03T12:00:00Z")
    save_execution(database, split_run(same_time), {})
    listed_ids: list[str] = []
    start: str | None = None
    for _ in range(3):
        page = history_page(database, HistoryQuery(), limit=2, start=start)
        listed_ids += [run.id for run in page.runs]
        start = page.next
    assert listed_ids == [ids[4], ids[3], same_time.id, ids[2], ids[1], ids[0]]
    assert start is None


def test_history_can_be_filtered(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)
    assert listed(database, ("dataset", "shop")) == [ids[3], ids[1]]
    assert listed(database, ("tag", "refund")) == [ids[4], ids[3], ids[2]]
    assert listed(database, ("agent", "billing")) == [ids[2]]
    assert listed(database, ("tag", "refund"), ("label", "branch=fix")) == [ids[4], ids[3]]
    assert listed(database, ("dataset", "nothing")) == []


def test_since_and_until_are_inclusive(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)
    noon = 1_772_366_400_000_000  # 2026-03-01T12:00:00Z
    day = 86_400_000_000
    query = HistoryQuery(since=noon + day, until=noon + 2 * day)
    assert [run.id for run in history_page(database, query, limit=9).runs] == [ids[2], ids[1]]
    query = HistoryQuery(facets=[("tag", "refund")], since=noon + 3 * day)
    assert [run.id for run in history_page(database, query, limit=9).runs] == [ids[4], ids[3]]


def test_invalid_page_start_is_an_error(database: Database):
    with pytest.raises(UsageError, match="invalid page start 'somewhere'"):
        history_page(database, HistoryQuery(), limit=1, start="somewhere")


def test_run_is_found_by_latest_label_or_id_prefix(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)

    def find_id(name: str) -> str:
        sql = "SELECT r.id FROM executions e JOIN runs r ON r.number = e.run WHERE e.number = ?"
        return next(database.rows(sql, (find_execution(database, name),)))[0]

    assert find_id("latest") == ids[4]
    assert find_id("latest:shop") == ids[3]
    assert find_id("branch:main") == ids[2]
    assert find_id(ids[0]) == ids[0]
    assert find_id(ids[1][:14]) == ids[1]
    assert find_id(ids[1].removeprefix("run-")[:10]) == ids[1]


def test_newest_of_several_executions_is_found(database: Database, make_run: MakeRun):
    late = save_execution(database, split_run(make_run(created_at="2026-03-09T12:00:00Z")), {})
    save_execution(database, split_run(make_run(created_at="2026-03-01T12:00:00Z")), {})
    assert find_execution(database, make_run().id) == late
    assert find_execution(database, "latest") == late


def test_last_release_is_the_newest_run_with_a_release_label(database: Database, make_run: MakeRun):
    with pytest.raises(InputError, match="no run has a release label"):
        find_execution(database, "release")
    newest = split_run(make_run(created_at="2026-03-05T12:00:00Z"))
    second = save_execution(database, newest, {"release": "1.10.0"})
    save_execution(
        database, split_run(make_run(created_at="2026-03-01T12:00:00Z")), {"release": "1.9.0"}
    )
    save_execution(
        database, split_run(make_run(created_at="2026-03-09T12:00:00Z")), {"releases": "x"}
    )
    assert find_execution(database, "release") == second


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("run-0000", "list runs with `carob runs`"),
        ("latest:nobody", "known values of dataset: bikes, shop"),
        ("branch:nobody", "known values of branch: fix, main"),
        ("release:1", "no run has a label release=…"),
    ],
)
def test_unknown_run_is_an_error_with_its_name(
    database: Database, make_run: MakeRun, name: str, hint: str
):
    fill(database, make_run)
    with pytest.raises(InputError, match=f"no run found for '{name}'") as raised:
        find_execution(database, name)
    assert (raised.value.hint or "").startswith(hint)


def test_ambiguous_id_prefix_is_an_error(database: Database, make_run: MakeRun):
    ids = fill(database, make_run)
    with pytest.raises(InputError, match="'run-' is ambiguous") as raised:
        find_execution(database, "run-")
    assert raised.value.hint == "matching runs: " + ", ".join(sorted(ids)[:5])


def test_empty_store_has_a_clear_error(database: Database):
    with pytest.raises(InputError, match="no run found for 'latest'") as raised:
        find_execution(database, "latest")
    assert (raised.value.hint or "").startswith("the store is empty")


def test_label_replaces_an_earlier_one_of_the_same_name(database: Database, make_run: MakeRun):
    execution = save_execution(database, split_run(make_run()), {"branch": "main", "release": "1"})
    label_execution(database, execution, {"release": "2", "baseline": "yes"})
    (entry,) = history_page(database, HistoryQuery(), limit=1).runs
    assert entry.labels == {"branch": "main", "release": "2", "baseline": "yes"}
    assert find_execution(database, "release:2") == execution
    with pytest.raises(InputError):
        find_execution(database, "release:1")


@pytest.mark.parametrize("content", ["{x: 1}", '{"latency": "fast"}', "[]"])
def test_content_that_is_not_ours_is_an_input_error(
    tmp_path: Path, make_run: MakeRun, content: str
):
    path = str(tmp_path / "carob.db")
    with open_store(path, create=True) as database:
        save_execution(database, split_run(make_run(1.0)), {})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE executions SET means = ?", [content])
    with (
        pytest.raises(InputError, match=r"carob\.db: damaged content: ") as caught,
        open_store(path) as database,
    ):
        history_page(database, HistoryQuery(), limit=1)
    assert caught.value.hint == "run `carob store verify`"


def test_first_page_can_say_how_many_there_are(database: Database, make_run: MakeRun):
    (*_, last) = fill(database, make_run)
    assert count_matches(database, HistoryQuery()) == 5
    facets = [("label", "branch=main"), ("dataset", "bikes")]
    assert count_matches(database, HistoryQuery(facets=facets)) == 2
    until = microseconds(parse_time("2026-03-02T13:00:00Z"))
    assert count_matches(database, HistoryQuery(until=until)) == 2
    execution = find_execution(database, last)
    statuses = ("passed", "failed", "unscored", "error", "info")
    counts = [count_status(database, execution, status) for status in statuses]
    assert (sum(counts), max(counts), count_status(database, execution, None)) == (1, 1, 1)
