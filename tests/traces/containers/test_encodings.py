"""Every recording in other containers: a trace is the same however its spans are packed, and what a
container cannot hold is not recorded, never something else."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from carob.schema import Json, Span, SpanEvent, Trace, Turn
from carob.schema.problem import ignore
from carob.traces.containers.detect import read_items
from carob.traces.mapping.traces import to_traces
from carob.traces.otlp_export import export_spans
from carob.traces.reading.assemble import assemble
from tests.traces.mapping.test_dropped import name_trace, wrong_values
from tests.traces.recorded_spans import RecordedTrace, recorded_traces


def read(*values: Json) -> Trace:
    records = list(read_items(values, source="f"))
    spans = [record for record in records if isinstance(record, Span)]
    assert len(spans) == len(records)
    (collected,) = assemble(spans, source="f", report=ignore).values()
    (trace,) = to_traces(collected)
    return trace


def summarize(trace: Trace) -> list[object]:
    def essence(turn: Turn) -> tuple[object, ...]:
        calls = [(call.name, call.args, call.id, call.agent) for call in turn.tool_calls or ()]
        texts = turn.user, turn.response, [message.text for message in turn.messages]
        return texts, turn.tool_calls is None, calls, turn.tool_results, turn.agents, turn.error

    return [*map(essence, trace.turns), trace.usage, trace.models, sorted(trace.gaps)]


def without_bodies(spans: tuple[Span, ...]) -> bool:
    """Whether no event is a log record, which only containers with log records can hold."""
    return all(event.body is None for span in spans for event in span.events)


def one_span_per_line(spans: tuple[Span, ...]) -> list[Json]:
    return [export_spans([span]) for span in reversed(spans)]


def tempo(spans: tuple[Span, ...]) -> list[Json]:
    def encode(item: Json) -> Json:
        if isinstance(item, list):
            return [encode(inner) for inner in item]
        if not isinstance(item, dict):
            return item
        return {
            key: encode_id(value)
            if key in ("traceId", "spanId", "parentSpanId") and isinstance(value, str)
            else encode(value)
            for key, value in item.items()
        }

    def encode_id(key: str) -> str:
        is_hex = len(key) in (16, 32) and not key.strip("0123456789abcdef")
        return base64.b64encode(bytes.fromhex(key)).decode() if is_hex else key

    return [{"batches": encode(export_spans(spans)["resourceSpans"])}]


def flat(spans: tuple[Span, ...]) -> list[Json]:
    def event(item: SpanEvent) -> Json:
        return {"name": item.name, "timestamp": item.time, "attributes": item.attributes}

    return [
        {
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "parent_span_id": span.parent_id,
            "name": span.name,
            "kind": span.kind.upper(),
            "start_time": span.start,
            "end_time": span.end,
            "attributes": span.attributes,
            "events": [*map(event, span.events)],
            "status": {"code": span.status.upper(), "message": span.status_message},
            "scope": {"name": span.scope, "version": span.scope_version},
            "resource": {"attributes": span.resource},
        }
        for span in spans
    ]


def tag(key: str, value: Json) -> Json:
    if isinstance(value, bool):
        return {"key": key, "type": "bool", "value": value}
    if isinstance(value, int):
        return {"key": key, "type": "int64", "value": value}
    if isinstance(value, float):
        return {"key": key, "type": "float64", "value": value}
    text = value if isinstance(value, str) else json.dumps(value)
    return {"key": key, "type": "string", "value": text}


def jaeger(spans: tuple[Span, ...]) -> list[Json]:
    def encode(span: Span) -> Json:
        own: dict[str, Json] = {"otel.scope.name": span.scope, "span.kind": span.kind}
        if span.status != "unset":
            own["otel.status_code"] = span.status.upper()
        if span.status_message:
            own["otel.status_description"] = span.status_message
        parent: Json = {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_id}
        start, end = span.start or 0, span.end or span.start or 0
        return {
            "traceID": span.trace_id,
            "spanID": span.span_id,
            "operationName": span.name,
            "references": [parent] if span.parent_id else [],
            "startTime": start // 1000,
            "duration": (end - start) // 1000,
            "tags": [tag(key, value) for key, value in (span.attributes | own).items()],
            "logs": [
                {
                    "timestamp": (event.time or 0) // 1000,
                    "fields": [
                        tag("event", event.name),
                        *(tag(key, value) for key, value in event.attributes.items()),
                    ],
                }
                for event in span.events
            ],
            "processID": "p1",
        }

    processes: Json = {"p1": {"serviceName": "shop", "tags": []}}
    items: list[Json] = [*map(encode, spans)]
    return [{"data": [{"traceID": spans[0].trace_id, "spans": items, "processes": processes}]}]


def langfuse(spans: tuple[Span, ...]) -> list[Json]:
    def iso(time: int | None) -> Json:
        if time is None:
            return None
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time // 1000)
        return moment.isoformat()

    observations: list[Json] = [
        {
            "id": span.span_id,
            "traceId": span.trace_id,
            "parentObservationId": span.parent_id,
            "type": "SPAN",
            "name": span.name,
            "startTime": iso(span.start),
            "endTime": iso(span.end),
            "level": "ERROR" if span.status == "error" else "DEFAULT",
            "statusMessage": span.status_message,
            "metadata": {
                "attributes": span.attributes,
                "scope": {"name": span.scope, "version": span.scope_version},
                "resourceAttributes": span.resource,
            },
        }
        for span in spans
    ]
    return [{"trace": {"id": spans[0].trace_id}, "observations": observations}]


LOSSLESS = (one_span_per_line, tempo, flat)
LOSSY = (jaeger, langfuse)
NUMBERED = [*enumerate(recorded_traces())]
every_trace = pytest.mark.parametrize(
    ("number", "recorded"), NUMBERED, ids=[name_trace(recorded) for _, recorded in NUMBERED]
)
"""Each recording is tried in one container of each kind: neighbours are of the same recorder."""


@every_trace
def test_containers_with_whole_spans_give_the_same_trace(number: int, recorded: RecordedTrace):
    encode = LOSSLESS[number % len(LOSSLESS)]
    if without_bodies(recorded.spans):
        assert summarize(read(*encode(recorded.spans))) == summarize(recorded.trace)


@every_trace
def test_containers_that_lose_something_give_no_wrong_value(number: int, recorded: RecordedTrace):
    encode = LOSSY[number % len(LOSSY)]
    if without_bodies(recorded.spans):
        trace = read(*encode(recorded.spans))
        assert list(wrong_values(recorded.trace, trace, loses_span=True)) == []
