"""Exporters that agents really use, in Python and JavaScript, and a collector: they are understood,
and what they could not deliver while the disk was full arrives later."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from tests.server.conftest import Process, start_server
from tests.server.test_otlp import post, request, span, text_message, wait_for_session

ROOT = Path(__file__).parents[2]
FULL = 1 << 10  # less than one page of the database, wherever it is written
"""Bytes of a file that a process may write while its disk is "full"."""


@pytest.fixture(scope="module")
def javascript() -> Path:
    subprocess.run([ROOT / "tests" / "server" / "exporters" / "setup.sh"], check=True)
    return ROOT / ".exporters" / "export.mjs"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    started = start_server(tmp_path_factory.mktemp("exporters"))
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def collector(javascript: Path) -> Path:
    program = javascript.parent / "collector" / "rotel" / "rotel-agent"
    if not program.exists():
        pytest.skip("there is no build of the collector for this system")
    return program


@contextmanager
def collecting(program: Path, server: Process, protocol: str) -> Generator[str]:
    """Run a collector that passes everything on to a server, and yield its own address."""
    endpoint = server.addresses["otlp"] if protocol == "http" else server.addresses["grpc"]
    address, other = free_address(), free_address()
    command = [
        *(str(program), "start", "--exporter", "otlp", "--batch-timeout", "100ms"),
        *("--otlp-exporter-endpoint", f"http://{endpoint.removeprefix('http://')}"),
        *("--otlp-exporter-protocol", protocol),
        *("--otlp-http-endpoint", address, "--otlp-grpc-endpoint", other),
    ]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=program.parent) as process:
        try:
            wait_for_port(address)
            yield f"http://{address}"
        finally:
            process.terminate()


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def wait_for_port(address: str) -> None:
    host, _, port = address.rpartition(":")
    for _ in range(200):
        with suppress(OSError), socket.create_connection((host, int(port)), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the collector does not start")


def set_disk_full(server: Process, *, is_full: bool) -> None:
    """Limit the size of files that the server writes. It sees the same error as on a full disk."""
    hard = resource.RLIM_INFINITY
    limit = (FULL if is_full else hard, hard)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)


def export_javascript(script: Path, server: Process, protocol: str, session: str) -> list[int]:
    endpoint = server.addresses["grpc" if protocol == "grpc" else "otlp"]
    command = ["node", str(script), protocol, endpoint, session]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)


def export_python(server: Process, protocol: str, session: str) -> None:
    if protocol == "grpc":
        exporter = GrpcSpanExporter(endpoint=server.addresses["grpc"], insecure=True, timeout=30)
    else:
        endpoint = f"{server.addresses['otlp']}/v1/traces"
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=30)
    export_with(exporter, session)


def export_with(exporter: SpanExporter, session: str) -> None:
    provider = TracerProvider(resource=Resource.create({"carob.session.name": session}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": text_message("user", "Is it open?"),
        "gen_ai.output.messages": text_message("assistant", "Until six."),
    }
    provider.get_tracer("shop").start_span("chat", attributes=call).end()
    assert provider.force_flush(40_000)
    provider.shutdown()


@pytest.mark.parametrize("protocol", ["grpc", "http", "proto"])
def test_javascript_agent_appears_as_a_session(served: Process, javascript: Path, protocol: str):
    session = f"javascript-{protocol}"
    assert export_javascript(javascript, served, protocol, session) == [0]
    detail = wait_for_session(served.client, session)
    (turn,) = detail["trace"]["turns"]
    assert (turn["user"], turn["response"]) == ("Is it open?", "Until six.")
    assert (detail["session"]["agent"], detail["session"]["spans"]) == ("support", 2)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_agent_behind_a_collector_appears_as_a_session(
    served: Process, collector: Path, protocol: str
):
    with collecting(collector, served, protocol) as address:
        export_with(OTLPSpanExporter(endpoint=f"{address}/v1/traces"), f"collected-{protocol}")
        detail = wait_for_session(served.client, f"collected-{protocol}")
    (turn,) = detail["trace"]["turns"]
    assert (turn["user"], turn["response"]) == ("Is it open?", "Until six.")


def test_exporters_retry_until_there_is_room(tmp_path: Path, javascript: Path):
    """All exporters wait at the same time, so that the test takes as long as the slowest."""
    started = start_server(tmp_path)
    try:
        assert post(started.receiver, request(span(0x1))).status == 200
        set_disk_full(started, is_full=True)
        refused = post(started.receiver, request(*(span(n) for n in range(0x10, 0x60))))
        assert refused.status == 503, refused
        assert refused.headers["retry-after"] == "5"
        assert started.client.get("/api/ready").status == 503
        assert started.client.get("/api/health").status == 200
        threads = [
            *(
                threading.Thread(target=export_python, args=(started, protocol, f"py-{protocol}"))
                for protocol in ("grpc", "http")
            ),
            *(
                threading.Thread(
                    target=export_javascript, args=(javascript, started, protocol, f"js-{protocol}")
                )
                for protocol in ("http", "proto")  # over gRPC, OpenTelemetry JS does not retry
            ),
        ]
        for thread in threads:
            thread.start()
        time.sleep(3)
        set_disk_full(started, is_full=False)
        for thread in threads:
            thread.join(60)
        for session in ("py-grpc", "py-http", "js-http", "js-proto"):
            assert wait_for_session(started.client, session)["trace"]["turns"]
        assert started.client.get("/api/ready").status == 200
        assert wait_for_session(started.client, f"{0x1:032x}")
    finally:
        assert started.stop() == 0
