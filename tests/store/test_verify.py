from __future__ import annotations

from collections.abc import Callable

import pytest

from carob.schema import Run, Trace
from carob.store import Database
from carob.store.blobs import put_blob, save_traces
from carob.store.document import chain_digest, split_run
from carob.store.history import label_execution
from carob.store.ledger import ledger_head
from carob.store.prune import Retention, prune
from carob.store.runs import save_execution
from carob.store.verify import verify

MakeRun = Callable[..., Run]


@pytest.fixture
def run(database: Database, make_run: MakeRun) -> Run:
    run = make_run(1.0, 0.25, None)
    execution = save_execution(database, split_run(run), {})
    save_traces(database, execution, [Trace(id="trace_0")])
    return run


def problems(database: Database) -> list[str]:
    return [f"{problem.where}: {problem.message}" for problem in verify(database).problems]


def test_untouched_store_has_no_problems(database: Database, run: Run):
    report = verify(database)
    assert report.problems == ()
    counts = (report.runs, report.executions, report.cases, report.outcomes, report.contents)
    assert counts == (1, 1, 3, 3, 1)


def test_changed_value_is_reported(database: Database, run: Run):
    database.execute("UPDATE outcomes SET value = 0.75 WHERE place = 1")
    where = f"{run.id} case 'case_1'"
    message = "outcome of 'tool_trajectory_avg_score' is value 0.75, its body says 0.25"
    assert problems(database) == [f"{where}: {message}"]


def test_changed_body_is_reported(database: Database, run: Run):
    body = split_run(run).bodies[1].replace(b"0.25", b"0.95")
    database.execute("UPDATE cases SET body = ? WHERE place = 1", (body,))
    messages = problems(database)
    assert f"{run.id} case 'case_1': its body was changed: it does not match its digest" in messages
    assert any(
        "outcome of 'tool_trajectory_avg_score' is value 0.25" in message for message in messages
    )


def test_forged_digests_do_not_match_the_run_id(database: Database, run: Run):
    bodies = [*split_run(run).bodies]
    bodies[2] = bodies[2].replace(b"as told", b"as sold")
    digest = b""
    for position, body in enumerate(bodies):
        digest = chain_digest(digest, body)
        sql = "UPDATE cases SET body = ?, digest = ? WHERE place = ?"
        database.execute(sql, (body, digest, position))
    database.execute("UPDATE runs SET digest = ?", (digest,))
    (message,) = problems(database)
    assert message.startswith(f"{run.id} execution")
    assert message.endswith(f", expected {run.id}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE outcomes SET status = 'passed' WHERE place = 1", "status 'passed', its body"),
        ("UPDATE outcomes SET value = 0.0 WHERE place = 2", "value 0.0, its body says None"),
        ("UPDATE cases SET status = 'passed' WHERE place = 1", "row 1 has 'passed'"),
        ("UPDATE executions SET passed = 3", "the columns do not match the run: 3 for 1"),
        ("UPDATE executions SET at = 1", "the columns do not match the run"),
        ("UPDATE runs SET digest = (SELECT digest FROM executions)", "do not match its digest"),
        ("DELETE FROM outcomes WHERE place = 0", "0 outcomes, its body has 1"),
        ("DELETE FROM cases WHERE place = 2", "has 2 cases, expected 3"),
        ("UPDATE outcomes SET run = 99 WHERE place = 0", "1 orphaned rows"),
        ("DELETE FROM runs", "orphaned rows"),
        ("UPDATE traces SET address = 'sha256:0'", "it was changed: it does not match its digest"),
        ("UPDATE traces SET body = digest", "it was changed: it does not match its digest"),
        ("UPDATE cases SET body = digest WHERE place = 0", "its body is not a result"),
        ("UPDATE executions SET head = digest", "its head is not a run"),
    ],
)
def test_any_change_is_detected(database: Database, run: Run, change: str, message: str):
    database.execute(change)
    assert any(message in problem for problem in problems(database))


def test_changed_summary_is_reported(database: Database, run: Run):
    head = split_run(run).head.replace(b'"mean":0.75', b'"mean":0.95')
    database.execute("UPDATE executions SET head = ?", (head,))
    assert any("its summary was changed" in problem for problem in problems(database))


def test_changed_cached_answer_is_reported(database: Database):
    with database.writing():
        put_blob(database, "judge_cache", "judge:1", b'{"score":1}')
        put_blob(database, "judge_cache", "judge:2", b'{"score":0}')
    database.execute(
        "UPDATE judge_cache SET body ="
        " (SELECT body FROM judge_cache WHERE address = 'judge:1') WHERE address = 'judge:2'"
    )
    assert problems(database) == [
        "judge_cache judge:2: it was changed: it does not match its digest"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["DELETE FROM executions", "DELETE FROM runs", "DELETE FROM cases"], "was deleted"),
        (["DELETE FROM facets WHERE kind = 'label'"], "its label 'branch=main' was deleted"),
        (
            ["UPDATE facets SET value = 'branch=fix' WHERE kind = 'label'"],
            "its label 'branch=fix' was added without an entry in the ledger",
        ),
        (["UPDATE datasets SET name = 'other'"], "is called 'other', which no run of it says"),
        (["DELETE FROM datasets"], "dataset sha256:shop: was deleted"),
        (["DELETE FROM traces"], "1 traces of cases were deleted"),
        (["DELETE FROM case_traces"], "its traces were deleted or exchanged"),
        (["DELETE FROM ledger WHERE number = 1"], "ledger entry 1: was deleted"),
        (["UPDATE ledger SET digest = entry WHERE number = 1"], "ledger entry 1: was changed"),
    ],
)
def test_what_the_ledger_tells_must_be_there(
    database: Database, make_run: MakeRun, changes: list[str], message: str
):
    execution = save_execution(database, split_run(make_run(1.0)), {"branch": "main"})
    save_traces(database, execution, [Trace(id="trace_0")])
    assert problems(database) == []
    for change in changes:
        database.execute(change)
    assert any(message in text for text in problems(database)), problems(database)


def test_labels_and_pruning_are_part_of_the_ledger(database: Database, make_run: MakeRun):
    old = save_execution(database, split_run(make_run(1.0)), {"branch": "main"})
    save_traces(database, old, [Trace(id="trace_0")])
    new = save_execution(database, split_run(make_run(0.5)), {})
    label_execution(database, new, {"release": "1.4.0"})
    label_execution(database, new, {"release": "1.4.1"})
    assert prune(database, Retention(keep=1)).removed == 1
    report = verify(database)
    assert (report.problems, report.executions, report.entries) == ((), 1, 6)


def test_rewritten_history_does_not_lead_through_the_head(database: Database, make_run: MakeRun):
    save_execution(database, split_run(make_run(0.5)), {})
    pinned = ledger_head(database)
    save_execution(database, split_run(make_run(1.0)), {})
    assert verify(database, head=pinned).problems == ()
    for table in ("ledger", "facets", "executions", "runs", "cases", "outcomes", "datasets"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - own names
    save_execution(database, split_run(make_run(1.0)), {})
    assert verify(database).problems == ()
    (problem,) = verify(database, head=pinned).problems
    assert problem.message.endswith("is not part of the ledger: its history was rewritten")


def test_moved_time_of_a_label_is_reported(database: Database, make_run: MakeRun):
    execution = save_execution(database, split_run(make_run(1.0)), {"branch": "main"})
    database.execute("UPDATE facets SET at = at + 1 WHERE execution = ?", (execution,))
    assert problems(database) == ["facets: 2 have another time than their execution"]


def test_bytes_after_a_compressed_trace_are_reported(database: Database, run: Run):
    (body,) = next(database.rows("SELECT body FROM traces"))
    database.execute("UPDATE traces SET body = ?", (bytes(body) + b"x",))
    assert [text.partition(": ")[2] for text in problems(database)] == [
        "it was changed: it does not match its digest"
    ]


def test_removed_executions_are_counted(database: Database, run: Run, make_run: MakeRun):
    save_execution(database, split_run(make_run(0.5)), {})
    prune(database, Retention(keep=1))
    report = verify(database)
    assert (report.removed, report.problems) == (1, ())
