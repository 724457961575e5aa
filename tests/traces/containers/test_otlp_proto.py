from __future__ import annotations

import sys
from pathlib import Path

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData, ResourceLogs, ScopeLogs

from carob.errors import InputError, install_hint
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items

SAMPLE = (
    Path(__file__).parents[2] / "samples" / "traces" / "containers" / "05_otlp_export_request.pb"
)


def test_length_prefixed_messages_are_read():
    message = SAMPLE.read_bytes()
    framed = len(message).to_bytes(4, "big") + message
    once = list(read_items([message], source="f"))
    assert len(once) == 9
    assert list(read_items([framed * 2], source="f")) == once * 2


def test_logs_are_distinguished_from_spans():
    record = LogMessage(time_unix_nano=5, event_name="said", trace_id=b"\1" * 16, span_id=b"\2" * 8)
    record.body.CopyFrom(AnyValue(string_value="Hi"))
    data = LogsData(resource_logs=[ResourceLogs(scope_logs=[ScopeLogs(log_records=[record])])])
    (log,) = read_items([data.SerializeToString()], source="f")
    assert isinstance(log, LogRecord)
    assert (log.trace_id, log.span_id) == ("01" * 16, "02" * 8)
    assert (log.event.name, log.event.time, log.event.body) == ("said", 5, "Hi")


def test_other_bytes_are_refused():
    with pytest.raises(InputError, match="neither text nor OTLP protobuf"):
        list(read_items([b"\x00\x01\x02\x03 nothing"], source="f"))


def test_missing_library_hints_at_the_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with pytest.raises(InputError) as caught:
        list(read_items([SAMPLE.read_bytes()], source="f"))
    assert caught.value.hint == install_hint("otlp")
