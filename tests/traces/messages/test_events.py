from __future__ import annotations

import json

from carob.schema import Json, Span, SpanEvent, Turn
from carob.traces.mapping.traces import to_traces
from carob.traces.messages import events
from carob.traces.messages.message import Message, ResultBlock


def to_turn(operation: str, *happened: SpanEvent, **attributes: Json) -> Turn:
    all_attributes: dict[str, Json] = {"gen_ai.operation.name": operation, **attributes}
    only = Span(
        trace_id="t", span_id="s", start=1, end=2, attributes=all_attributes, events=happened
    )
    return to_traces([only])[0].turns[0]


def test_several_details_events_of_one_span_are_merged():
    question = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "tide?"}]}])
    answer: Json = [{"role": "assistant", "parts": [{"type": "text", "content": "six"}]}]
    name = "gen_ai.client.inference.operation.details"
    turn = to_turn(
        "chat",
        SpanEvent(name=name, attributes={"gen_ai.input.messages": question}),
        SpanEvent(name=name, attributes={"gen_ai.output.messages": answer}),
    )
    assert (turn.user, turn.response) == ("tide?", "six")


def test_log_records_have_their_message_in_the_body():
    turn = to_turn(
        "chat",
        SpanEvent(name="gen_ai.user.message", body={"content": "tide?"}),
        SpanEvent(name="gen_ai.choice", body={"index": 0, "message": {"content": "six"}}),
    )
    assert (turn.user, turn.response) == ("tide?", "six")


def test_azure_message_is_json_in_one_attribute():
    turn = to_turn(
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
    assert (turn.user, turn.response) == ("tide?", "six")


def test_oldest_events_have_a_prompt_and_a_completion():
    turn = to_turn(
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
    assert (turn.user, turn.response) == ("tide?", "six")


def test_events_without_content_are_missing_not_empty():
    turn = to_turn(
        "chat",
        SpanEvent(name="gen_ai.user.message", attributes={"gen_ai.system": "x"}),
        SpanEvent(name="gen_ai.choice", attributes={"gen_ai.system": "x"}),
    )
    assert (turn.user, turn.response) == (None, None)


def test_adot_records_an_agent_and_a_tool_in_the_body_of_one_record():
    body: Json = {
        "input": {"messages": [{"role": "user", "content": {"content": '[{"text": "tide?"}]'}}]},
        "output": {"messages": [{"role": "assistant", "content": {"message": "six"}}]},
    }
    agent_turn = to_turn("invoke_agent", SpanEvent(name="strands.telemetry.tracer", body=body))
    assert (agent_turn.user, agent_turn.response) == ("tide?", "six")
    ran: Json = {
        "input": {"messages": [{"role": "tool", "content": {"content": '{"city": "Oslo"}'}}]},
        "output": {"messages": [{"role": "assistant", "content": {"message": '[{"text": "6"}]'}}]},
    }
    log = SpanEvent(name="strands.telemetry.tracer", body=ran)
    tool_turn = to_turn("execute_tool", log, **{"gen_ai.tool.name": "tide"})
    assert [c.args for c in tool_turn.tool_calls or ()] == [{"city": "Oslo"}]
    assert [r.result for r in tool_turn.tool_results] == ["6"]


def adot(input_value: Json, output_value: Json) -> Span:
    body: Json = {"input": {"messages": input_value}, "output": {"messages": output_value}}
    event = SpanEvent(name="strands.telemetry.tracer", time=1, body=body)
    return Span(trace_id="t", span_id="s", events=(event,))


def test_earlier_responses_are_not_part_of_the_adot_output():
    before: Json = {"role": "assistant", "content": {"content": '[{"text": "At six."}]'}}
    choice: Json = {"finish_reason": "end_turn", "message": '[{"text": "At ten."}]'}
    span = adot([], [before, {"role": "assistant", "content": choice}])
    assert events.read_output(span) == [Message("assistant", "At ten.")]


def test_copies_beside_a_complete_adot_value_are_not_messages():
    tool: Json = {"role": "tool", "content": "six", "tool_call_id": "c1"}
    value = json.dumps({"messages": [{"role": "user", "content": "When?"}, tool]})
    copies: list[Json] = [
        {"role": "user", "content": content} for content in (value, "When?", "six")
    ]
    assert events.read_input(adot(copies, [])) == [
        Message("user", "When?"),
        Message("tool", results=[ResultBlock("c1", None, "six", error=False)]),
    ]


def test_adot_value_without_messages_is_not_user_text():
    assert (
        events.read_input(adot([{"role": "user", "content": '{"inputs": {"topic": 1}}'}], []))
        is None
    )


def test_content_moved_into_a_log_is_merged_with_the_span():
    body: Json = {"output": {"messages": [{"role": "assistant", "content": "six"}]}}
    log = SpanEvent(name="scope", body=body)
    attributes: dict[str, Json] = {"gen_ai.completion.0.role": "assistant"}
    assert to_turn("chat", log, **attributes).response == "six"
    (result,) = to_turn(
        "execute_tool", log, **{"gen_ai.tool.name": "tide", "gen_ai.tool.call.arguments": "{}"}
    ).tool_results
    assert result.result == "six"


def test_openlit_writes_all_messages_in_one_text():
    prompt = "system: Be nice.\nuser: Hi\nassistant: Hello.\nuser: Where?\nAnd when?"
    event = SpanEvent(name="gen_ai.content.prompt", attributes={"gen_ai.prompt": prompt})
    span = Span(trace_id="t1", span_id="s1", name="chat", events=(event,))
    assert [(message.role, message.text) for message in events.read_input(span) or ()] == [
        ("system", "Be nice."),
        ("user", "Hi"),
        ("assistant", "Hello."),
        ("user", "Where?\nAnd when?"),
    ]
