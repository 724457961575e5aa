from __future__ import annotations

import json

from karat.schema import Json, Span, SpanEvent, Turn
from karat.traces.conventions import to_traces


def turn(operation: str, *events: SpanEvent, **attributes: Json) -> Turn:
    held: dict[str, Json] = {"gen_ai.operation.name": operation, **attributes}
    only = Span(trace_id="t", span_id="s", start=1, end=2, attributes=held, events=events)
    return to_traces([only])[0].turns[0]


def test_several_details_events_of_one_span_are_merged():
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "tide?"}]}])
    answered: Json = [{"role": "assistant", "parts": [{"type": "text", "content": "six"}]}]
    name = "gen_ai.client.inference.operation.details"
    found = turn(
        "chat",
        SpanEvent(name=name, attributes={"gen_ai.input.messages": asked}),
        SpanEvent(name=name, attributes={"gen_ai.output.messages": answered}),
    )
    assert (found.user, found.response) == ("tide?", "six")


def test_log_records_hold_their_message_in_the_body():
    found = turn(
        "chat",
        SpanEvent(name="gen_ai.user.message", body={"content": "tide?"}),
        SpanEvent(name="gen_ai.choice", body={"index": 0, "message": {"content": "six"}}),
    )
    assert (found.user, found.response) == ("tide?", "six")


def test_azure_keeps_a_message_as_json_in_one_attribute():
    found = turn(
        "chat",
        SpanEvent(
            name="gen_ai.user.message",
            attributes={"gen_ai.event.content": '{"role": "user", "content": "tide?"}'},
        ),
        SpanEvent(
            name="gen_ai.choice",
            attributes={"gen_ai.event.content": '{"message": {"content": "six"}, "index": 0}'},
        ),
    )
    assert (found.user, found.response) == ("tide?", "six")


def test_the_earliest_events_hold_a_prompt_and_a_completion():
    found = turn(
        "chat",
        SpanEvent(
            name="gen_ai.content.prompt",
            attributes={"gen_ai.prompt": '[{"role": "user", "content": "tide?"}]'},
        ),
        SpanEvent(
            name="gen_ai.content.completion",
            attributes={"gen_ai.completion": '[{"role": "assistant", "content": "six"}]'},
        ),
    )
    assert (found.user, found.response) == ("tide?", "six")


def test_events_without_content_are_not_recorded_rather_than_empty():
    found = turn(
        "chat",
        SpanEvent(name="gen_ai.user.message", attributes={"gen_ai.system": "x"}),
        SpanEvent(name="gen_ai.choice", attributes={"gen_ai.system": "x"}),
    )
    assert (found.user, found.response) == (None, None)


def test_adot_tells_an_agent_and_a_tool_in_the_body_of_one_record():
    body: Json = {
        "input": {"messages": [{"role": "user", "content": {"content": '[{"text": "tide?"}]'}}]},
        "output": {"messages": [{"role": "assistant", "content": {"message": "six"}}]},
    }
    found = turn("invoke_agent", SpanEvent(name="strands.telemetry.tracer", body=body))
    assert (found.user, found.response) == ("tide?", "six")
    ran: Json = {
        "input": {"messages": [{"role": "tool", "content": {"content": '{"city": "Oslo"}'}}]},
        "output": {"messages": [{"role": "assistant", "content": {"message": '[{"text": "6"}]'}}]},
    }
    log = SpanEvent(name="strands.telemetry.tracer", body=ran)
    used = turn("execute_tool", log, **{"gen_ai.tool.name": "tide"})
    assert [c.args for c in used.tool_calls or ()] == [{"city": "Oslo"}]
    assert [r.result for r in used.tool_results] == ["6"]
