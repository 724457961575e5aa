"""A server that is stopped, killed or restarted loses nothing that it has acknowledged."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.postgres import server as postgres_server
from tests.server.conftest import Client, Process, start_server
from tests.server.test_otlp import attribute, post, request, span, wait_for_session

DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
JSON = {"Content-Type": "application/json"}


def send(client: Client, path: str, body: object, **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = client.ask("POST", path, json.dumps(body).encode(), {**JSON, **named})
    assert answer.status < 300, answer.body
    return answer.json()


def wait_for_run(client: Client, job: str) -> dict[str, Any]:
    for _ in range(600):
        state = client.get(f"/api/jobs/{job}").json()
        if state["state"] not in ("waiting", "running"):
            return state
        time.sleep(0.05)
    raise AssertionError("the run did not end")


def with_golden(folder: Path) -> Path:
    (folder / "golden").mkdir()
    shutil.copy(DEMO / "support.evalset.json", folder / "golden")
    return folder


def test_session_goes_on_after_a_restart(tmp_path: Path):
    root = [attribute("gen_ai.conversation.id", "long-talk")]
    first = start_server(tmp_path)
    child = span(0x51, spanId="00000000000000b1", parentSpanId="00000000000000b2")
    assert post(first.receiver, request(child)).status == 200
    assert first.stop() == 0
    second = start_server(tmp_path)
    try:
        parent = span(0x51, spanId="00000000000000b2", attributes=root)
        assert post(second.receiver, request(parent, child)).status == 200  # and a retry
        session = wait_for_session(second.client, "long-talk")["session"]
        assert session["spans"] == 2
    finally:
        assert second.stop() == 0


def test_sigterm_answers_what_has_arrived_and_ends_streams(tmp_path: Path):
    started = start_server(tmp_path)
    stream = http.client.HTTPConnection(started.client.host, timeout=20)
    stream.request("GET", "/api/events")
    events = stream.getresponse()
    statuses: list[int] = []

    def send_many(start: int) -> None:
        for number in range(start, start + 40):
            try:
                statuses.append(post(started.receiver, request(span(number))).status)
            except OSError:  # no longer accepted
                return

    senders = [threading.Thread(target=send_many, args=(0x1000 * n,)) for n in range(1, 5)]
    for sender in senders:
        sender.start()
    while not statuses:
        time.sleep(0.01)
    start = time.monotonic()
    assert started.stop() == 0
    assert time.monotonic() - start < 12
    for sender in senders:
        sender.join()
    events.read()
    stream.close()
    again = start_server(tmp_path)
    try:
        expected = statuses.count(200)
        assert expected > 0
        assert set(statuses) <= {200, 503}
        assert count_sessions(again, expected) == expected
    finally:
        assert again.stop() == 0


def count_sessions(server: Process, expected: int) -> int:
    """Count the sessions; a request that was stored but not answered any more counts, too."""
    found = 0
    for _ in range(100):
        found, after = 0, ""
        while True:
            page = server.client.get(f"/api/sessions?limit=1000{after}").json()
            found += len(page["items"])
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        if found >= expected:
            return expected
        time.sleep(0.1)
    return found


def test_idempotency_key_outlives_the_server(tmp_path: Path):
    first = start_server(with_golden(tmp_path))
    upload = first.client.upload("/api/traces", DEMO / "traces" / "good.otlp.jsonl").json()
    body = {"dataset": "bike_shop_support", "traces": [upload["upload"]["id"]]}
    body["metrics"] = ["tool_trajectory_avg_score"]
    job = send(first.client, "/api/runs", body, Idempotency_Key="nightly-7")
    run = wait_for_run(first.client, job["id"])["run"]
    assert first.stop() == 0
    second = start_server(tmp_path)
    try:
        again = send(second.client, "/api/runs", body, Idempotency_Key="nightly-7")
        assert (again["state"], again["run"]) == ("done", run)
        assert (again["verdict"], again["cases"]["total"]) == ("inconclusive", 9)
        assert len(second.client.get("/api/runs").json()["items"]) == 1
    finally:
        assert second.stop() == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_whole_story_works_on_both_stores(tmp_path: Path, kind: str):
    if kind == "sqlite":
        _tell_story(tmp_path, "--store", "story.db")
        return
    with postgres_server() as url:
        _tell_story(tmp_path, "--store", url)
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT COUNT(*) FROM carob.payloads").fetchone()
        assert row == (1,)
    assert not (tmp_path / ".carob" / "carob.db").exists()


def _tell_story(folder: Path, *args: str) -> None:
    """Trace, session, golden case, release, run, review, all over REST, and the events of it."""
    started = start_server(folder, *args)
    client = started.client
    try:
        assert client.get("/api/ready").status == 200
        assert post(started.receiver, request(span(0x61))).status == 200
        session = f"{0x61:032x}"
        wait_for_session(client, session)
        send(client, f"/api/sessions/{session}/golden", {"dataset": "shop"})
        assert client.get("/api/sessions").json()["items"][0]["kept"]
        assert send(client, "/api/datasets/shop/release", {"by": "Mara"})["version"]
        body = {"dataset": "shop", "sessions": [session], "metrics": ["response_match_score"]}
        state = wait_for_run(client, send(client, "/api/runs", body)["id"])
        assert (state["state"], state["cases"]["passed"]) == ("done", 1)
        path, body = f"/api/runs/{state['run']}/rescore", {"dataset": "shop"}
        rescored = send(client, path, body, Idempotency_Key="again")
        assert send(client, path, body, Idempotency_Key="again")["id"] == rescored["id"]
        assert wait_for_run(client, rescored["id"])["state"] == "done"
        queue = send(client, "/api/queues", {"run": state["run"], "metric": "response_match_score"})
        item = client.get(f"/api/queues/{queue['id']}/next?by=Mara").json()["id"]
        path = f"/api/queues/{queue['id']}/items/{item}/label"
        label = json.dumps({"label": "passed", "by": "Mara"}).encode()
        assert client.ask("PUT", path, label, JSON).json()["labelled"] == 1
        assert read_events(client) >= {"session", "dataset", "run"}
    finally:
        assert started.stop() == 0


def read_events(client: Client) -> set[str]:
    """The kinds of all events so far."""
    connection = http.client.HTTPConnection(client.host, timeout=20)
    connection.request("GET", "/api/events", headers={"Last-Event-ID": "0"})
    response = connection.getresponse()
    kinds: set[str] = set()
    end = time.monotonic() + 20
    while time.monotonic() < end and not kinds >= {"session", "dataset", "run"}:
        line = response.fp.readline().decode()
        if line.startswith("event: "):
            kinds.add(line.removeprefix("event: ").strip())
    connection.close()
    return kinds
