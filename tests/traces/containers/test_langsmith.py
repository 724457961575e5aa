from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items

ROOT = "497f6eca-6276-4993-bfeb-53cbbbba6f08"
CHILD = "f8faf8c1-9778-49a4-9004-628cdb0047e5"


def run(key: str, run_type: str, **fields: Json) -> dict[str, Json]:
    return {
        "id": key,
        "name": run_type,
        "run_type": run_type,
        "start_time": "2026-01-05T10:00:00.090000",
        "end_time": "2026-01-05T10:00:00.459000",
        "inputs": {"q": 1},
        "outputs": {"a": 2},
        "error": None,
        "trace_id": ROOT,
        "parent_run_id": None,
        **fields,
    }


def read(document: Json) -> list[Span]:
    return [item for item in read_items([document], source="f") if isinstance(item, Span)]


def test_run_fields_become_attributes():
    (record,) = read([run(CHILD, "llm", parent_run_id=ROOT, total_tokens=7, error="boom")])
    assert (record.trace_id, record.span_id, record.parent_id) == (ROOT, CHILD, ROOT)
    assert record.start == 1_767_607_200_090_000_000
    assert record.attributes == {
        "langsmith.run_type": "llm",
        "langsmith.inputs": {"q": 1},
        "langsmith.outputs": {"a": 2},
        "langsmith.error": "boom",
        "langsmith.total_tokens": 7,
    }
    assert (record.status, record.status_message) == ("error", "boom")


def test_nested_runs_are_children():
    child = run(CHILD, "tool", trace_id=None)
    root, inner = read(run(ROOT, "chain", trace_id=None, child_runs=[child]))
    assert (inner.trace_id, inner.parent_id) == (ROOT, root.span_id)


def test_dotted_order_contains_the_trace_id():
    order = f"20260105T100000000000Z{ROOT}.20260105T100001000000Z{CHILD}"
    (record,) = read(run(CHILD, "tool", trace_id=None, dotted_order=order))
    assert record.trace_id == ROOT
