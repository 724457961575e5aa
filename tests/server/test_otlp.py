"""What is acknowledged is on disk, is indexed once, and becomes a session."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.server.conftest import Answer, Client, Process, start_server

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def text_message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def span(number: int, **fields: Any) -> dict[str, Any]:
    """A model call in a trace of its own."""
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat",
        "startTimeUnixNano": "1794000000000000000",
        "endTimeUnixNano": "1794000001000000000",
        "attributes": [
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.input.messages", text_message("user", "Is it open?")),
            attribute("gen_ai.output.messages", text_message("assistant", "Until six.")),
        ],
        **fields,
    }


def request(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def post(client: Client, body: bytes, headers: dict[str, str] | None = None) -> Answer:
    return client.ask("POST", "/v1/traces", body, headers or JSON)


def wait_for_session(client: Client, session: str) -> dict[str, Any]:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        answer = client.get(f"/api/sessions/{session}")
        if answer.status == 200:
            return answer.json()
        time.sleep(0.05)
    raise AssertionError(f"session {session} did not appear")


@contextmanager
def tracer_provider(address: str, **resource: str) -> Generator[TracerProvider]:
    provider = TracerProvider(resource=Resource.create(resource))
    exporter = OTLPSpanExporter(endpoint=f"{address}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    yield provider
    assert provider.force_flush()
    provider.shutdown()


def test_agent_that_exports_appears_as_a_session(server: Process):
    with tracer_provider(server.addresses["otlp"]) as provider:
        tracer = provider.get_tracer("shop")
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "support",
            "gen_ai.conversation.id": "talk-1",
        }
        call = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": text_message("user", "Is it open?"),
            "gen_ai.output.messages": text_message("assistant", "Until six."),
        }
        with (
            tracer.start_as_current_span("invoke_agent support", attributes=attributes),
            tracer.start_as_current_span("chat", attributes=call),
        ):
            pass
    detail = wait_for_session(server.client, "talk-1")
    assert (detail["session"]["agent"], detail["session"]["spans"]) == ("support", 2)
    (turn,) = detail["trace"]["turns"]
    assert (turn["user"], turn["response"]) == ("Is it open?", "Until six.")
    assert detail["supports"]["response_match_score"] is None
    captured = server.client.ask("POST", "/api/sessions/talk-1/capture", b"").json()
    assert captured["case"]["turns"][0]["response"] == "Until six."


def test_receiver_answers_on_the_main_port_too(server: Process):
    body = request(span(0x11))
    assert (post(server.client, body).status, post(server.receiver, body).json()) == (200, {})
    detail = wait_for_session(server.client, f"{0x11:032x}")
    assert detail["session"]["spans"] == 1  # the same span twice is one


def test_gzip_and_charset_are_understood(server: Process):
    headers = {"Content-Type": "application/json; charset=utf-8", "Content-Encoding": "gzip"}
    assert post(server.receiver, gzip.compress(request(span(0x12))), headers).status == 200
    assert wait_for_session(server.client, f"{0x12:032x}")["trace"]["turns"]


def test_session_with_a_line_break_in_its_name_can_be_removed(server: Process):
    talk = attribute("gen_ai.conversation.id", "talk\n1")
    assert post(server.receiver, request(span(0x1E, attributes=[talk]))).status == 200
    wait_for_session(server.client, "talk%0A1")
    assert server.client.ask("DELETE", "/api/sessions/talk%0A1").status == 204
    assert server.client.get("/api/sessions/talk%0A1").status == 404


def test_log_records_without_a_trace_are_refused(server: Process):
    """They would never be part of a session, and thus stay on the disk for ever."""
    records = [
        {"body": {"stringValue": "started"}},
        {"traceId": "abc", "body": {"stringValue": "started"}},
        {"traceId": f"{0x1F:032x}", "body": {"stringValue": "started"}},
    ]
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()
    answer = server.receiver.ask("POST", "/v1/logs", body, JSON)
    partial = answer.json()["partialSuccess"]
    assert (answer.status, partial["rejectedLogRecords"]) == (200, "2")
    assert "trace id" in partial["errorMessage"]
    sessions = server.client.get("/api/sessions?limit=1000").json()["items"]
    assert "abc" not in [session["id"] for session in sessions]


def test_spans_with_invalid_ids_are_counted_and_left_out(server: Process):
    bad = [span(0), span(0x13, traceId="abc"), span(0x13, spanId="0" * 16)]
    answer = post(server.receiver, request(span(0x14), *bad))
    partial = answer.json()["partialSuccess"]
    assert (answer.status, partial["rejectedSpans"]) == (200, "3")
    assert wait_for_session(server.client, f"{0x14:032x}")["session"]["spans"] == 1


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"resourceSpans": 3}', b'{"resourceSpans": [', b"\xff\xfe"]
)
def test_bad_json_is_refused_for_good(server: Process, body: bytes):
    answer = post(server.receiver, body)
    assert (answer.status, answer.json()["code"]) == (400, 3)


def parsed(kind: type[Message], body: bytes) -> Any:
    message = kind()
    message.ParseFromString(body)
    return message


def test_answers_have_the_type_of_the_request(server: Process):
    refused = post(server.receiver, b"\x0a\xff", PROTOBUF)
    assert (refused.status, refused.headers["content-type"]) == (400, "application/x-protobuf")
    assert parsed(Status, refused.body).code == 3
    empty = post(server.receiver, b"", PROTOBUF)
    assert (empty.status, empty.body) == (200, b"")


def test_metrics_are_refused_politely(server: Process):
    gauge = Metric(name="latency", gauge=Gauge(data_points=[NumberDataPoint(), NumberDataPoint()]))
    scope = ScopeMetrics(metrics=[gauge])
    body = MetricsData(resource_metrics=[ResourceMetrics(scope_metrics=[scope])])
    answer = server.receiver.ask("POST", "/v1/metrics", body.SerializeToString(), PROTOBUF)
    partial = parsed(ExportMetricsServiceResponse, answer.body).partial_success
    assert (answer.status, partial.rejected_data_points) == (200, 2)
    points = [{"asInt": "3"}]
    document = {
        "resourceMetrics": [{"scopeMetrics": [{"metrics": [{"sum": {"dataPoints": points}}]}]}]
    }
    answer = server.receiver.ask("POST", "/v1/metrics", json.dumps(document).encode(), JSON)
    expected = {"rejectedDataPoints": "1", "errorMessage": "metrics are not stored"}
    assert (answer.status, answer.json()) == (200, {"partialSuccess": expected})
    assert server.receiver.ask("POST", "/v1/metrics", b"", PROTOBUF).body == b""
    assert server.receiver.ask("POST", "/v1/metrics", b"\x0a\xff", PROTOBUF).status == 400


def test_refusal_says_which_field_is_wrong(server: Process):
    refused = post(server.receiver, b"\x0a\xff", PROTOBUF)
    (detail,) = parsed(Status, refused.body).details
    bad = BadRequest()
    assert detail.Unpack(bad)
    assert [violation.field for violation in bad.field_violations] == ["body"]
    (detail,) = post(server.receiver, b"{").json()["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"


def test_ids_are_hex_in_any_case_and_numbers_text_or_not(server: Process):
    shouted = span(0xABCDEF, kind=3, startTimeUnixNano=1794000000000000000, novelty={"a": [1]})
    shouted |= {"traceId": shouted["traceId"].upper(), "spanId": shouted["spanId"].upper()}
    assert post(server.receiver, request(shouted)).json() == {}
    assert wait_for_session(server.client, f"{0xABCDEF:032x}")["trace"]["turns"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({**JSON, "Content-Encoding": "br"}, 415),
        ({**JSON, "Content-Encoding": "gzip"}, 400),
    ],
)
def test_unknown_types_and_encodings_are_refused(
    server: Process, headers: dict[str, str], status: int
):
    assert post(server.receiver, request(span(0x15)), headers).status == status


def test_gzip_bomb_is_refused(server: Process):
    bomb = gzip.compress(b" " * (65 << 20))
    assert post(server.receiver, bomb, {**JSON, "Content-Encoding": "gzip"}).status == 413
    members = gzip.compress(b" ") * 33
    assert post(server.receiver, members, {**JSON, "Content-Encoding": "gzip"}).status == 400


def test_session_is_known_better_when_its_root_arrives(server: Process):
    child = span(0x21, spanId="00000000000000a1", parentSpanId="00000000000000a2")
    assert post(server.receiver, request(child)).status == 200
    assert wait_for_session(server.client, f"{0x21:032x}")["session"]["spans"] == 1
    conversation = [attribute("gen_ai.conversation.id", "late-name")]
    root = span(0x21, spanId="00000000000000a2", attributes=conversation)
    assert post(server.receiver, request(root)).status == 200
    assert wait_for_session(server.client, "late-name")["session"]["spans"] == 2
    assert server.client.get(f"/api/sessions/{0x21:032x}").status == 404


def test_sessions_are_listed_in_pages_and_discarded(server: Process):
    for number in range(0x30, 0x35):
        post(server.receiver, request(span(number)))
    wait_for_session(server.client, f"{0x34:032x}")
    seen: list[str] = []
    after = ""
    while True:
        page = server.client.get(f"/api/sessions?limit=2{after}").json()
        seen += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert len(seen) == len(set(seen))
    assert {f"{number:032x}" for number in range(0x30, 0x35)} <= {*seen}
    assert server.client.ask("DELETE", f"/api/sessions/{0x30:032x}").status == 204
    assert server.client.get(f"/api/sessions/{0x30:032x}").status == 404
    assert server.client.get("/api/sessions?after=soon").status == 400


def test_acknowledged_spans_survive_a_kill(tmp_path: Path):
    started = start_server(tmp_path)
    numbers = range(0x100, 0x120)
    for number in numbers:
        assert post(started.receiver, request(span(number))).status == 200
    started.kill()
    again = start_server(tmp_path)
    try:
        for number in numbers:
            assert wait_for_session(again.client, f"{number:032x}")["trace"]["turns"]
    finally:
        assert again.stop() == 0


def test_grpc_exporter_is_received_too(server: Process):
    provider = TracerProvider(resource=Resource.create({"carob.session.name": "by-grpc"}))
    exporter = GrpcSpanExporter(endpoint=server.addresses["grpc"], insecure=True)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    with provider.get_tracer("shop").start_as_current_span(
        "chat", attributes={"gen_ai.operation.name": "chat"}
    ):
        pass
    assert provider.force_flush()
    provider.shutdown()
    assert wait_for_session(server.client, "by-grpc")["session"]["spans"] == 1


def test_bad_grpc_request_is_refused_for_good(server: Process):
    with grpc.insecure_channel(server.addresses["grpc"]) as channel:
        export: Any = cast("Any", channel).unary_unary(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        )
        assert export(b"", timeout=10) == b""
        with pytest.raises(grpc.RpcError) as error:
            export(b"\x0a\xff", timeout=10)
    assert cast("Any", error.value).code() == grpc.StatusCode.INVALID_ARGUMENT


def test_live_page_says_what_was_refused(tmp_path: Path):
    process = start_server(tmp_path)
    try:
        assert b"0 spans stored \xc2\xb7 0 refused" in process.client.get("/live").body
        assert post(process.receiver, b"{").status == 400
        assert post(process.receiver, request(span(1), span(2, spanId="0" * 16))).status == 200
        page = process.client.get("/live").body.decode()
        assert "1 record and 1 request refused since the start" in page
    finally:
        assert process.stop() == 0
