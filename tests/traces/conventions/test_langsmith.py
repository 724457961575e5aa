from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces


def test_failed_run_without_output_has_no_response_and_no_result():
    def span(key: str, parent: str | None, start: int, kind: str) -> Span:
        attributes: dict[str, Json] = {
            "langsmith.span.kind": kind,
            "gen_ai.completion": "{}",
            "langsmith.trace.name": key,
        }
        return Span(
            "t1", key, parent, key, start=start, end=9, attributes=attributes, status="error"
        )

    turn = to_traces([span("pilot", None, 1, "chain"), span("tide", "pilot", 2, "tool")])[0].turns[
        0
    ]
    assert turn.response is None
    assert [(result.result, result.error) for result in turn.tool_results] == [
        (None, "the tool failed")
    ]
