from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterator

import pytest

from carob.server import events as module
from carob.server.events import EventStream
from tests.server.conftest import Process
from tests.server.test_otlp import post, request, span


def take(stream: EventStream, after: int | None, count: int) -> list[bytes]:
    """The first parts of a stream."""

    async def read() -> list[bytes]:
        parts: list[bytes] = []
        async for part in stream.follow(after):
            parts.append(part)
            if len(parts) == count:
                break
        return parts

    return asyncio.run(read())


def test_stream_goes_on_after_the_last_event():
    stream = EventStream()
    for number in range(3):
        stream.publish("run", {"number": number})
    assert take(stream, 1, 3)[1:] == [
        b'id: 2\nevent: run\ndata: {"number":1}\n\n',
        b'id: 3\nevent: run\ndata: {"number":2}\n\n',
    ]


def test_reader_that_was_away_too_long_starts_again(monkeypatch: pytest.MonkeyPatch):
    stream = EventStream()
    stream.publish("run", {})
    monkeypatch.setattr(module, "KEPT_SECONDS", 0)
    stream.publish("run", {})
    stream.publish("run", {})
    assert take(stream, 1, 2)[1] == b"id: 3\nevent: reset\ndata: {}\n\n"
    assert take(stream, 99, 2)[1] == b"id: 3\nevent: reset\ndata: {}\n\n"


@pytest.fixture
def stream(server: Process) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(server.client.host, timeout=10)
    connection.request("GET", "/api/events")
    yield connection.getresponse()
    connection.close()


def test_session_is_announced_when_its_spans_arrive(
    server: Process, stream: http.client.HTTPResponse
):
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert stream.readline() == b": ping\n"
    post(server.receiver, request(span(0x77)))
    lines = [stream.readline() for _ in range(4)]
    assert lines[1].startswith(b"id: ")
    assert lines[2:] == [b"event: session\n", b'data: {"id":"%s"}\n' % f"{0x77:032x}".encode()]


def test_wrong_parameters_of_the_stream_are_errors(server: Process):
    assert server.client.get("/api/events?after=soon").status == 400
    assert server.client.get("/api/events?since=3").status == 400
