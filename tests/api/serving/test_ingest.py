"""Receiving and indexing: outlines that are kept in memory and those read from disk agree."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from carob.api.serving import ingest as ingest_module
from carob.api.serving.ingest import Ingest
from carob.api.serving.ingest import unpack as unpack_stored
from carob.store.inbox import Payload, list_sessions, open_inbox
from tests.api.agent_spans import chat


def body(*spans: dict[str, Any], name: str | None = None) -> bytes:
    resource = [{"key": "carob.session.name", "value": {"stringValue": name}}] if name else []
    group = {"resource": {"attributes": resource}, "scopeSpans": [{"spans": spans}]}
    return json.dumps({"resourceSpans": [group]}).encode()


def protobuf(number: int, *, session: str) -> bytes:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = number.to_bytes(16), number.to_bytes(8)
    span.start_time_unix_nano, span.end_time_unix_nano = number * 10**9, (number + 1) * 10**9
    attribute = span.attributes.add()
    attribute.key, attribute.value.string_value = "session.id", session
    return request.SerializeToString()


REQUESTS = [
    (body(chat(1, "Is it open?", "Yes."), name="counter"), "json"),
    (body({**chat(1, "Until when?", "Six."), "spanId": f"{9:016x}"}), "json"),
    (protobuf(2, session="harbour"), "protobuf"),
    (body(chat(3, "Hello?", "Hello.", gen_ai__conversation__id="c-3")), "json"),
    (body(chat(4, "Anybody?", "Yes."), chat(5, "Who?", "Me.")), "json"),
    (protobuf(6, session="harbour"), "protobuf"),
]


def wait(ingest: Ingest) -> None:
    end = time.monotonic() + 30
    while ingest.behind() and time.monotonic() < end:
        time.sleep(0.01)


def receive(*ingests: Ingest) -> None:
    """Send all requests, to each server in turn."""
    for number, (content, encoding) in enumerate(REQUESTS):
        server = ingests[number % len(ingests)]
        stored = server.accept(content, "traces", encoding).stored  # pyright: ignore[reportArgumentType] - one of two
        assert stored
        stored.result(30)
    wait(ingests[0])


def sessions(store: str) -> list[tuple[Any, ...]]:
    with open_inbox(store) as database:
        rows = list_sessions(database, limit=100)
    return sorted((row.id, row.started, row.ended, row.spans, row.agent) for row in rows)


def test_index_is_the_same_from_memory_and_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    memory, disk = str(tmp_path / "memory.db"), str(tmp_path / "disk.db")
    with Ingest(memory) as server:
        receive(server)
    monkeypatch.setattr(ingest_module, "_MAX_OUTLINED", 0)
    with Ingest(disk) as server:
        receive(server)
    assert sessions(memory) == sessions(disk)
    assert [row[0] for row in sessions(memory)] == [
        f"{4:032x}",
        f"{5:032x}",
        "c-3",
        "counter",
        "harbour",
    ]


def test_payloads_are_not_read_again_for_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    read: list[Payload] = []

    def unpack(payload: Payload) -> bytes:
        read.append(payload)
        return unpack_stored(payload)

    monkeypatch.setattr(ingest_module, "unpack", unpack)
    with Ingest(str(tmp_path / "carob.db")) as server:
        receive(server)
    assert len(sessions(str(tmp_path / "carob.db"))) == 5
    # Between the commit and the outline, the index may look for news.
    assert len(read) < len(REQUESTS) / 2


def test_index_of_two_servers_on_one_store_misses_nothing(tmp_path: Path):
    alone, shared = str(tmp_path / "alone.db"), str(tmp_path / "shared.db")
    with Ingest(alone) as server:
        receive(server)
    with Ingest(shared) as one, Ingest(shared) as other:
        receive(one, other)
    assert sessions(shared) == sessions(alone)
