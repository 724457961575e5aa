from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items


def span(number: int, parent: int | None, name: str) -> dict[str, Json]:
    return {
        "name": name,
        "kind": "client",
        "context": {"trace_id": 2**127 + 1, "span_id": number},
        "parent": {"trace_id": None, "span_id": parent},
        "start_time": 1_747_826_300_309_195_206,
        "end_time": 1_747_826_301_261_841_956,
        "status": {"status_code": "ok", "description": None},
        "attributes": {"gen_ai.operation.name": "call_llm"},
        "resource": {"attributes": {"service.name": "shop"}},
    }


def test_decimal_ids_become_hex_and_the_root_gets_the_final_output():
    spans: list[Json] = [span(2**63, 255, "call_llm m"), span(255, None, "invoke_agent")]
    records = list(read_items([{"spans": spans, "final_output": "18 °C"}], source="f"))
    child, root = (item for item in records if isinstance(item, Span))
    assert child.trace_id == root.trace_id == "80000000000000000000000000000001"
    assert (child.span_id, child.parent_id) == ("8000000000000000", "00000000000000ff")
    assert (child.kind, child.status, child.resource) == ("client", "ok", {"service.name": "shop"})
    assert (root.parent_id, root.attributes["any_agent.final_output"]) == (None, "18 °C")
