"""Four processes score the shards of a run in any order, twice each, and some are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from carob.api.history import list_runs, stored_document
from carob.api.run_request import Listeners, RunRequest
from carob.api.runs import evaluate
from carob.api.shards import ShardedRun
from carob.errors import InputError, StoppedError
from carob.schema import JudgeSettings, Problem
from carob.store import open_store
from carob.store.unfinished import unfinished_runs
from carob.store.verify import verify
from tests.api.judging import install

CASES = 24
_WORKER = """
import os, random, signal, sys
from pathlib import Path
from carob.api.run_request import Listeners, RunRequest
from carob.api.shards import ShardedRun
folder, store, seed, kill_after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
run = ShardedRun(
    RunRequest(
        traces=sorted((folder / "traces").iterdir()),
        golden=folder / "golden.csv",
        metrics=["exact_match"],
        thresholds={"exact_match": "0.5"},
        store=store,
    ),
    range_size=1200,
)
numbers = [*range(len(run.shards))] * 2
random.Random(seed).shuffle(numbers)
new = 0
for done, number in enumerate(numbers):
    if done == kill_after:
        os.kill(os.getpid(), signal.SIGKILL)
    new += run.score(number)
print(new, run.finish() is not None)
"""


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")


def make_request(folder: Path, store: str) -> RunRequest:
    return RunRequest(
        traces=sorted((folder / "traces").iterdir()),
        golden=folder / "golden.csv",
        metrics=["exact_match"],
        thresholds={"exact_match": "0.5"},
        store=store,
    )


def write_inputs(folder: Path) -> None:
    """Eight files. A session has a turn in the first and another in the fifth file."""
    rows = [f"Where is parcel {number}?,In depot {number}." for number in range(CASES)]
    (folder / "golden.csv").write_text("\n".join(["Input,ExpectedOutput", *rows, ""]))
    (folder / "traces").mkdir()
    for file in range(8):
        numbers = [number for number in range(CASES) if number % 8 == file]
        lines = [span_line(number, f"s-{number}", start=number) for number in numbers]
        if file in (0, 4):
            lines.append(span_line(100 + file, "s-shared", start=100 + file))
        (folder / "traces" / f"{file}.jsonl").write_text("\n".join(lines) + "\n")


def span_line(number: int, session: str, *, start: int) -> str:
    answer = "lost" if number % 5 == 0 else f"In depot {number}."
    texts = {"input": ("user", f"Where is parcel {number}?"), "output": ("assistant", answer)}
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": session,
    }
    for key, (role, text) in texts.items():
        message = {"role": role, "parts": [{"type": "text", "content": text}]}
        attributes[f"gen_ai.{key}.messages"] = json.dumps([message])
    span = {
        "traceId": f"{number + 1:032x}",
        "spanId": f"{number + 1:016x}",
        "name": "invoke_agent shop",
        "startTimeUnixNano": str(10**18 + start * 10**9),
        "endTimeUnixNano": str(10**18 + start * 10**9 + 1),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def start_worker(folder: Path, store: str, seed: int, kill_after: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _WORKER, str(folder), store, str(seed), str(kill_after)]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )


def test_files_that_share_a_session_are_one_shard(tmp_path: Path):
    write_inputs(tmp_path)
    run = ShardedRun(make_request(tmp_path, str(tmp_path / "store.db")))
    names = [[Path(chunk.path).name for chunk in shard.chunks] for shard in run.shards]
    assert names[0] == ["0.jsonl", "4.jsonl"]
    assert [len(files) for files in names] == [2, 1, 1, 1, 1, 1, 1]
    assert len({shard.digest for shard in run.shards}) == 7


def test_ranges_that_share_a_session_are_one_shard(tmp_path: Path):
    (tmp_path / "golden.csv").write_text("Input,ExpectedOutput\nWhere is parcel 1?,In depot 1.\n")
    (tmp_path / "traces").mkdir()
    # The first and the last line are one session, the lines between them are alone.
    sessions = ["s-both", *(f"s-{number}" for number in range(1, 7)), "s-both"]
    lines = [span_line(n, session, start=n) + "\n" for n, session in enumerate(sessions)]
    path = tmp_path / "traces" / "all.jsonl"
    path.write_text("".join(lines))
    request = make_request(tmp_path, str(tmp_path / "store.db"))
    shards = ShardedRun(request, range_size=len(lines[1])).shards
    ranges = [[(chunk.start, chunk.end) for chunk in shard.chunks] for shard in shards]
    assert [len(parts) for parts in ranges] == [2, *[1] * (len(shards) - 1)]
    assert ranges[0][0][0] == 0
    assert ranges[0][1][1] == path.stat().st_size
    assert (
        sorted(start for parts in ranges for start, _ in parts)[1:]
        == sorted(end for parts in ranges for _, end in parts if end)[:-1]
    )


def test_file_of_which_a_range_says_nothing_stays_whole(tmp_path: Path):
    write_inputs(tmp_path)
    path = tmp_path / "traces" / "1.jsonl"
    idle = json.dumps({"resourceSpans": []})
    path.write_text(path.read_text() + f"{idle}\n" * 200)
    run = ShardedRun(make_request(tmp_path, str(tmp_path / "store.db")), range_size=1200)
    assert [len(shard.chunks) for shard in run.shards] == [2, *[1] * 6]
    assert {(chunk.start) for shard in run.shards for chunk in shard.chunks} == {0}


def test_any_processes_in_any_order_make_the_run_of_one_process(tmp_path: Path, store_url: str):
    write_inputs(tmp_path)
    alone = evaluate(make_request(tmp_path, str(tmp_path / "alone.db"))).run
    run = ShardedRun(make_request(tmp_path, store_url), range_size=1200)
    assert len(run.shards) > 8  # some are ranges of a file
    run.start()
    workers = [start_worker(tmp_path, store_url, seed, (-1, 2, 5, -1)[seed]) for seed in range(4)]
    outputs = [worker.communicate() for worker in workers]
    assert [errors for _, errors in outputs] == [b""] * 4
    assert [worker.returncode for worker in workers] == [0, -signal.SIGKILL, -signal.SIGKILL, 0]
    assert sorted(out.split()[1] for out, _ in outputs if out) == [b"False", b"True"]
    document = stored_document("latest", store=store_url)
    assert document == stored_document("latest", store=str(tmp_path / "alone.db"))
    assert alone.summary.cases.total == CASES
    assert len(list_runs(store=store_url).runs) == 1
    with open_store(store_url) as database:
        assert unfinished_runs(database) == ()
        assert verify(database).problems == ()


def test_run_with_a_missing_shard_is_not_finished(tmp_path: Path, store_url: str):
    write_inputs(tmp_path)
    run = ShardedRun(make_request(tmp_path, store_url))
    run.start()
    assert run.score(3)
    assert not run.score(3)
    assert run.missing() == [0, 1, 2, 4, 5, 6]
    assert run.finish() is None
    for number in run.missing():
        assert run.score(number)
    assert run.finish() is not None
    assert run.finish() is None
    assert not run.score(3)  # the run is complete


def test_limits_of_judges_hold_for_all_shards(
    tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
):
    model = install(monkeypatch)
    write_inputs(tmp_path)

    def open_run(max_calls: int) -> ShardedRun:
        judge = JudgeSettings(model="ollama:judge", max_calls=max_calls)
        request = make_request(tmp_path, store_url)
        return ShardedRun(
            msgspec.structs.replace(request, metrics=["test_tone"], thresholds={}, judge=judge)
        )

    def score_all(run: ShardedRun) -> None:
        for number in run.missing():
            run.score(number)

    open_run(7).start()
    for _ in range(2):  # the second run, as in another process, has nothing left to spend
        with pytest.raises(StoppedError, match="the limit of 7 calls was reached"):
            score_all(open_run(7))
        assert len(model.requests) == 7
    last = open_run(100)
    score_all(last)
    run = last.finish()
    assert run is not None
    questions = {request.messages for request in model.requests}
    assert len(model.requests) == len(questions) == 20  # none was asked twice
    with open_store(store_url) as database:
        assert list(database.rows("SELECT * FROM judge_spending")) == []


def test_problems_of_a_range_name_lines_of_the_file(tmp_path: Path):
    (tmp_path / "golden.csv").write_text("Input,ExpectedOutput\nWhere is parcel 1?,In depot 1.\n")
    (tmp_path / "traces").mkdir()
    lines = [span_line(number, f"s-{number}", start=number) for number in range(12)]
    (tmp_path / "traces" / "all.jsonl").write_text("\n".join([*lines, "no JSON", lines[0], ""]))
    problems: list[Problem] = []
    run = ShardedRun(
        make_request(tmp_path, str(tmp_path / "store.db")),
        Listeners(problem=problems.append),
        range_size=3 * len(lines[0]),
    )
    assert len(run.shards) > 2
    run.start()
    for number in run.missing():
        run.score(number)
    assert [problem.where for problem in problems] == [f"{tmp_path}/traces/all.jsonl line 13"]


def test_changed_file_is_not_scored(tmp_path: Path):
    write_inputs(tmp_path)
    run = ShardedRun(make_request(tmp_path, str(tmp_path / "store.db")))
    run.start()
    path = tmp_path / "traces" / "1.jsonl"
    path.write_text(path.read_text().replace("depot", "depow"))
    with pytest.raises(InputError, match="changed since the run was divided"):
        run.score(1)
    assert run.score(2)


def test_crossed_run_is_another_one(tmp_path: Path):
    write_inputs(tmp_path)
    request = make_request(tmp_path, str(tmp_path / "store.db"))
    crossed = msgspec.structs.replace(request, cross=True)
    digests = [{shard.digest for shard in ShardedRun(one).shards} for one in (request, crossed)]
    assert digests[0].isdisjoint(digests[1])
