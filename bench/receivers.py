"""Receivers under load: start one, send it the spans of many sessions, and count its CPU time."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from bench.measure import CAROB, PEERS, environment

SPANS_PER_REQUEST = 60
_START = 1_794_000_000 * 10**9
_TICKS = os.sysconf("SC_CLK_TCK")
_CONNECTIONS = 8


class Receiver(NamedTuple):
    """A running receiver."""

    pid: int
    otlp: str
    """Host and port of the OTLP/HTTP receiver."""
    pages: str
    """Host and port of everything else."""

    def cpu_seconds(self) -> float:
        """The CPU time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_mb(self) -> float:
        """The memory of the process now."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024

    def settle(self) -> None:
        """Wait until the process has nothing left to do."""
        quiet, last = 0, self.cpu_seconds()
        while quiet < 4:
            time.sleep(0.5)
            now = self.cpu_seconds()
            quiet = quiet + 1 if now - last <= 0.02 else 0
            last = now

    def get(self, path: str) -> bytes:
        """Ask for something, and return the body."""
        connection = http.client.HTTPConnection(self.pages, timeout=60)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def read_sessions(self) -> int:
        """List every session with its turns, which builds its trace, and return their number."""
        after, number = "", 0
        while True:
            page = json.loads(self.get(f"/api/sessions?limit=200{after}"))
            if not all(session["turns"] for session in page["items"]):
                raise RuntimeError("a session was not read")
            number += len(page["items"])
            if page["next"] is None:
                return number
            after = f"&after={quote(page['next'], safe='')}"


@contextmanager
def carob_server(folder: Path) -> Generator[Receiver]:
    """Start `carob serve`."""
    ports = ("--port", "0", "--otlp-port", "0", "--grpc-port", "0")
    process = subprocess.Popen(
        [CAROB, "serve", *ports], cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True
    )
    addresses: dict[str, str] = {}
    for line in process.stderr or ():
        name, _, address = line.strip().rstrip("/").partition(" ")
        addresses[name] = address.removeprefix("http://")
        if name == "ready":
            break
    with _stopping(process):
        yield Receiver(process.pid, addresses["otlp"], addresses["pages"])


@contextmanager
def agentevals_server(folder: Path) -> Generator[Receiver]:
    """Start `agentevals serve`."""
    pages, otlp, grpc, api = (_free_port() for _ in range(4))
    options = {"--port": pages, "--otlp-http-port": otlp, "--otlp-grpc-port": grpc}
    options["--api-grpc-port"] = api
    arguments = [text for name, port in options.items() for text in (name, str(port))]
    command = [PEERS.with_name("agentevals"), "serve", "--headless", *arguments]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with _stopping(process):
        for _ in range(600):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", otlp)) == 0:
                    break
            time.sleep(0.1)
        yield Receiver(process.pid, f"127.0.0.1:{otlp}", f"127.0.0.1:{pages}")


@contextmanager
def _stopping(process: subprocess.Popen[str]) -> Generator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stderr:
            process.stderr.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def requests(number: int, first: int = 0) -> list[bytes]:
    """Export requests, each with all spans of one session of an agent."""
    return [_request(session) for session in range(first, first + number)]


def _request(session: int) -> bytes:
    name = _text("agentevals.session_name", f"session-{session:06}")
    spans = ScopeSpans(spans=list(_spans(session)))
    group = ResourceSpans(resource=Resource(attributes=[name]), scope_spans=[spans])
    return ExportTraceServiceRequest(resource_spans=[group]).SerializeToString()


def _spans(session: int) -> Iterator[Span]:
    """A conversation of an agent: a root span, and model calls with messages of a kilobyte."""
    trace = (session + 1).to_bytes(16)
    for number in range(SPANS_PER_REQUEST):
        start = _START + (session * 100 + number) * 10**6
        span = Span(
            trace_id=trace,
            span_id=(session * 100 + number + 1).to_bytes(8),
            parent_span_id=b"" if number == 0 else (session * 100 + 1).to_bytes(8),
            name="invoke_agent support" if number == 0 else "chat gpt-5-mini",
            start_time_unix_nano=start,
            end_time_unix_nano=start + 10**6,
        )
        span.attributes.extend(_attributes(number))
        yield span


def _attributes(number: int) -> Iterator[KeyValue]:
    if number == 0:
        yield _text("gen_ai.operation.name", "invoke_agent")
        yield _text("gen_ai.agent.name", "support")
        return
    yield _text("gen_ai.operation.name", "chat")
    yield _text("gen_ai.request.model", "gpt-5-mini")
    yield _text("gen_ai.input.messages", _message("user", f"Where is order {number}? " * 20))
    yield _text("gen_ai.output.messages", _message("assistant", f"Order {number} is here. " * 20))


def _text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def _message(role: str, content: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": content}]}])


def send(receiver: Receiver, bodies: Sequence[bytes]) -> None:
    """Send requests over several connections at once, each until it is accepted."""
    waiting = iter(bodies)
    lock = threading.Lock()
    failures: list[str] = []

    def work() -> None:
        connection = http.client.HTTPConnection(receiver.otlp, timeout=120)
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                break
            connection.request(
                "POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"}
            )
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                failures.append(f"{response.status} {response.reason}")
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(_CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(f"{len(failures)} requests were refused: {failures[0]}")
