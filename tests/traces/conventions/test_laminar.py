from __future__ import annotations

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces


def span(name: str, start: int, kind: str, received: str, returned: str, **more: Json) -> Span:
    attributes: dict[str, Json] = {"lmnr.span.type": kind}
    attributes |= {"lmnr.span.input": received, "lmnr.span.output": returned, **more}
    return Span(
        trace_id="t1",
        span_id=name,
        parent_id=None if start == 1 else "run",
        name=name,
        start=start,
        end=99 if start == 1 else start + 1,
        attributes=attributes,
    )


def test_every_span_of_laminar_has_a_type_an_input_and_an_output():
    session: Json = {"lmnr.association.properties.session_id": "s"}
    (trace,) = to_traces(
        [
            span("run", 1, "DEFAULT", '{"task": "Where?"}', '"Here."', **session),
            span("llm", 2, "LLM", '[{"role": "user", "content": "Look"}]', '{"content": "ok"}'),
            span("click", 4, "TOOL", '{"index": 1}', '"clicked"'),
        ]
    )
    (turn,) = trace.turns
    assert (trace.conversation, turn.user, turn.response) == ("s", "Where?", "Here.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("click", {"index": 1})]
    assert [result.result for result in turn.tool_results] == ["clicked"]
    assert len(turn.model_calls) == 1
