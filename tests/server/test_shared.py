"""Two servers on one store, and several people on one dataset."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.postgres import server as postgres_server
from tests.server.balancer import Balancer, balance
from tests.server.conftest import Answer, Client, Process, start_server
from tests.server.test_lifecycle import DEMO, JSON, wait_for_run, with_golden
from tests.server.test_otlp import attribute, post, request, span, wait_for_session

DATASET = "/api/datasets/bike_shop_support"


class Pair:
    """Two servers on one store and one folder."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder, self._store = folder, store
        self.servers = [self.start(), self.start()]

    def start(self) -> Process:
        return start_server(self._folder, "--store", self._store, "--allow-host", "127.0.0.1")

    @property
    def first(self) -> Process:
        return self.servers[0]

    @property
    def second(self) -> Process:
        return self.servers[1]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = with_golden(tmp_path_factory.mktemp("shared"))
    with postgres_server() as url:
        pair = Pair(folder, url)
        yield pair
        assert [server.stop() for server in pair.servers] == [0, 0]


def spans_of(client: Client) -> dict[str, int]:
    """The number of spans of each session."""
    spans: dict[str, int] = {}
    after = ""
    while after is not None:
        page = client.get(f"/api/sessions?limit=200{after}").json()
        spans |= {item["id"]: item["spans"] for item in page["items"]}
        after = f"&after={page['next']}" if page["next"] else None
    return spans


def test_sessions_that_both_receive_are_there_once_and_whole(pair: Pair):
    """Both get spans of every session, also the same ones, as when a retry takes the other way."""

    def send(server: Process, half: int) -> None:
        for number in range(half, 160 + half, 2):
            named = [attribute("gen_ai.conversation.id", f"talk-{number % 20}")]
            spans = [
                span(0x7000 + number, spanId=f"{place + 1:016x}", attributes=named)
                for place in range(3)
            ]
            assert post(server.receiver, request(*spans)).status == 200
            other = pair.second if server is pair.first else pair.first
            assert post(other.receiver, request(*spans[:2])).status == 200

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(send, server, half) for server in pair.servers for half in (0, 1)]
        for job in jobs:
            job.result()
    expected = {f"talk-{number}": 160 // 20 * 3 for number in range(20)}
    end = time.monotonic() + 20
    while time.monotonic() < end and spans_of(pair.first.client) != expected:
        time.sleep(0.1)
    assert spans_of(pair.first.client) == spans_of(pair.second.client) == expected


def test_each_hears_of_sessions_that_the_other_received(pair: Pair):
    assert post(pair.first.receiver, request(span(0x9001))).status == 200
    wait_for_session(pair.second.client, f"{0x9001:032x}")
    for server in pair.servers:
        wait_for_event(server.client, f"{0x9001:032x}")


def wait_for_event(client: Client, text: str) -> None:
    """Read the events until one of them has a text."""
    connection = http.client.HTTPConnection(client.host, timeout=10)
    connection.request("GET", "/api/events", headers={"Last-Event-ID": "0"})
    with connection.getresponse() as response:
        while text not in response.fp.readline().decode():
            pass
    connection.close()


def test_run_with_one_key_is_made_once(pair: Pair):
    upload = pair.first.client.upload("/api/traces", DEMO / "traces" / "good.otlp.jsonl").json()
    body = {"dataset": "bike_shop_support", "traces": [upload["upload"]["id"]]}
    data = json.dumps({**body, "metrics": ["tool_trajectory_avg_score"]}).encode()

    def start(server: Process) -> Answer:
        return server.client.ask("POST", "/api/runs", data, {**JSON, "Idempotency-Key": "night"})

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(start, [pair.first, pair.second] * 4)]
    statuses = {answer.status for answer in answers}
    assert statuses <= {202, 409}, answers
    started = [answer.json()["id"] for answer in answers if answer.status == 202]
    assert len({*started}) == 1
    maker = next(server for server in pair.servers if start(server).status == 202)
    run = wait_for_run(maker.client, started[0])["run"]
    for server in pair.servers:
        again = start(server)
        assert (again.status, again.json()["run"]) == (202, run)
        assert len(server.client.get("/api/runs").json()["items"]) == 1


def read_case(client: Client, case: str) -> tuple[dict[str, Any], str]:
    answer = client.get(f"{DATASET}/cases/{case}")
    return answer.json()["case"], answer.headers["etag"]


def edit(client: Client, case: str, tag: str) -> int:
    """Add a tag to a case, as an editor does: read it, change it, write it if nobody else has."""
    document, etag = read_case(client, case)
    document["tags"] = [*document.get("tags", ()), tag]
    body = json.dumps(document).encode()
    return client.ask("PUT", f"{DATASET}/cases/{case}", body, {**JSON, "If-Match": etag}).status


def test_people_edit_different_cases_of_one_dataset_at_once(pair: Pair):
    cases = pair.first.client.get(f"{DATASET}/cases").json()["items"]
    ids = [item["case"]["id"] for item in cases]
    clients = [pair.first.client, pair.second.client]
    with ThreadPoolExecutor(6) as pool:
        jobs = [
            pool.submit(edit, clients[place % 2], case, f"by-{place}")
            for place, case in enumerate(ids)
        ]
        assert {job.result() for job in jobs} == {200}
    for place, case in enumerate(ids):
        assert f"by-{place}" in read_case(clients[0], case)[0]["tags"]


def test_second_edit_of_one_case_is_refused_and_can_be_repeated(pair: Pair):
    """Of ten people who change one case at once, each gets it in or is told that it has changed."""

    def persist(person: int) -> int:
        client = pair.servers[person % 2].client
        for attempt in range(200):
            if (status := edit(client, "order_status", f"person-{person}")) != 412:
                assert status == 200
                return attempt
        raise AssertionError("never succeeded")

    with ThreadPoolExecutor(5) as pool:
        attempts = [*pool.map(persist, range(10))]
    tags = read_case(pair.first.client, "order_status")[0]["tags"]
    assert {f"person-{person}" for person in range(10)} <= {*tags}
    assert sum(attempts), "nobody was refused, so that nothing was tested"


def test_rolling_restart_loses_no_session(pair: Pair):
    """Agents with the real exporter go on while both servers are replaced, one after the other."""
    stopping = threading.Event()
    with balance(*(server.receiver.host for server in pair.servers)) as balancer:
        agents = [_Agent(balancer, name, stopping) for name in ("red", "blue")]
        for agent in agents:
            agent.start()
        try:
            for place in range(2):
                time.sleep(0.5)
                assert pair.servers[place].stop() == 0  # gone before its successor is there
                pair.servers[place] = pair.start()
                balancer.backends[place] = pair.servers[place].receiver.host
            time.sleep(0.5)
        finally:
            stopping.set()
            for agent in agents:
                agent.join(60)
    expected = {session for agent in agents for session in agent.sessions}
    assert len(expected) > 20
    end = time.monotonic() + 20
    while time.monotonic() < end and not expected <= spans_of(pair.first.client).keys():
        time.sleep(0.1)
    assert expected - spans_of(pair.second.client).keys() == set()


class _Agent(threading.Thread):
    """Has one conversation after the other, and exports them as agents do."""

    def __init__(self, balancer: Balancer, name: str, stopping: threading.Event) -> None:
        super().__init__()
        self.sessions: list[str] = []
        self._name, self._stopping = name, stopping
        exporter = OTLPSpanExporter(endpoint=f"{balancer.address}/v1/traces", timeout=20)
        self._provider = TracerProvider(resource=Resource.create({"service.name": name}))
        processor = BatchSpanProcessor(exporter, schedule_delay_millis=50)
        self._provider.add_span_processor(processor)

    def run(self) -> None:
        tracer = self._provider.get_tracer("shop")
        while not self._stopping.wait(0.1):
            session = f"{self._name}-{len(self.sessions)}"
            tracer.start_span("chat", attributes={"gen_ai.conversation.id": session}).end()
            self.sessions.append(session)
        assert self._provider.force_flush(40_000)
        self._provider.shutdown()
