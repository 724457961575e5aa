from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items


def span(key: str, *children: Json, **fields: Json) -> dict[str, Json]:
    return {
        "span_id": key,
        "span_name": f"step {key}",
        "timestamp": "2026-01-05T10:00:00.5Z",
        "duration": "PT1M48.25S",
        "status_code": "Ok",
        "span_attributes": {"input.value": "x"},
        "child_spans": list(children),
        **fields,
    }


def test_children_are_linked_to_their_parents():
    document: Json = {"trace_id": "ab" * 16, "spans": [span("a", span("b", span("c")), span("d"))]}
    spans = [item for item in read_items([document], source="f") if isinstance(item, Span)]
    assert [(s.span_id, s.parent_id) for s in spans] == [
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("d", "a"),
    ]
    assert {s.trace_id for s in spans} == {"ab" * 16}


def test_duration_in_words_gives_the_end():
    (record,) = read_items([span("a", trace_id="ab" * 16)], source="f")
    assert isinstance(record, Span)
    assert (record.start, record.status) == (1_767_607_200_500_000_000, "ok")
    assert record.end == 1_767_607_200_500_000_000 + 108_250_000_000


def test_logs_of_a_span_belong_to_it():
    logs: Json = [{"body": {"function.name": "main"}, "timestamp": "2026-01-05T10:00:01Z"}]
    _, log = read_items([span("a", trace_id="ab" * 16, logs=logs)], source="f")
    assert isinstance(log, LogRecord)
    assert (log.span_id, log.event.body) == ("a", {"function.name": "main"})
