from __future__ import annotations

import json

from carob.schema import Json, Span, SpanEvent, Turn
from carob.traces.mapping.traces import to_traces

CALL: Json = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": {"id": 7}}}


def span(start: int, operation: str, *events: SpanEvent, parent: str | None = None, **more: Json):
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": operation,
        "gen_ai.system": "az.ai.agents",
        "gen_ai.thread.id": "th",
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    return Span(
        trace_id="t1",
        span_id=f"s{start}",
        parent_id=parent,
        name=operation,
        start=start,
        end=start + 1,
        attributes=attributes,
        events=events,
    )


def event(name: str, body: Json, run: str | None = None, message: str | None = None) -> SpanEvent:
    attributes: dict[str, Json] = {"gen_ai.event.content": json.dumps(body)}
    if run:
        attributes["gen_ai.thread.run.id"] = run
    if message:
        attributes["gen_ai.message.id"] = message
    return SpanEvent(name=f"gen_ai.{name}", attributes=attributes)


def user_message(start: int, content: str) -> Span:
    return span(
        start, "create_message", event("user.message", {"role": "user", "content": content})
    )


def answer(content: str, run: str) -> SpanEvent:
    body: Json = {"role": "assistant", "content": {"text": {"value": content}}}
    return event("assistant.message", body, run, f"m-{run}")


def run(start: int, key: str, *events: SpanEvent) -> Span:
    return span(
        start,
        "process_thread_run",
        *events,
        gen_ai__agent__id="asst",
        gen_ai__thread__run__id=key,
    )


def turns(*spans: Span) -> list[tuple[str | None, str | None]]:
    return [(turn.user, turn.response) for turn in to_traces(spans)[0].turns]


def calls(turn: Turn) -> list[tuple[str, Json, str | None]]:
    return [(call.name, call.args, call.id) for call in turn.tool_calls or ()]


def test_streaming_run_records_its_own_messages():
    events = (
        event("tool.message", {"content": "shipped", "id": "c1"}),
        event("assistant.message", {"tool_calls": [CALL]}),
        answer("It shipped.", "r1"),
    )
    turn = to_traces([user_message(1, "Where?"), run(3, "r1", *events)])[0].turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Where?", "It shipped.", ("asst",))
    assert calls(turn) == [("find", {"id": 7}, "c1")]
    assert [result.result for result in turn.tool_results] == ["shipped"]


def test_missing_messages_of_a_run_come_from_surrounding_calls():
    listed = span(
        20,
        "list_messages",
        answer("Yes.", "r2"),
        event("user.message", {"content": "Sure?"}),
        answer("It shipped.", "r1"),
        event("user.message", {"content": "Where?"}),
    )
    assert turns(
        user_message(1, "Where?"), run(3, "r1"), user_message(5, "Sure?"), run(7, "r2"), listed
    ) == [
        ("Where?", "It shipped."),
        ("Sure?", "Yes."),
    ]


def test_steps_and_outputs_of_tools_belong_to_their_run():
    started = span(4, "start_thread_run", parent="s3", gen_ai__agent__id="asst")
    output = event("tool.message", {"content": "shipped", "id": "c1"})
    outputs = span(5, "submit_tool_outputs", output, parent="s3")
    steps = span(9, "list_run_steps", event("run_step.tool_calls", {"tool_calls": [CALL]}, "r1"))
    run_turns = to_traces([user_message(1, "Where?"), run(3, "r1"), started, outputs, steps])[
        0
    ].turns
    assert [(calls(turn), turn.agents) for turn in run_turns] == [
        ([("find", {"id": 7}, "c1")], ("asst",))
    ]
    assert [result.result for result in run_turns[0].tool_results] == ["shipped"]


def test_response_of_foundry_is_a_model_call_of_its_agent():
    def invoked(start: int, content: Json, reply: Json) -> Span:
        attributes: dict[str, Json] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "microsoft.foundry",
            "az.namespace": "Microsoft.CognitiveServices",
            "gen_ai.agent.name": "shop",
            "gen_ai.usage.input_tokens": start,
        }
        events = [("input", "user", content), ("output", "assistant", reply)]
        messages = [
            event(f"{side}.messages", [{"role": role, "parts": [part]}])
            for side, role, part in events
        ]
        original = span(start, "invoke_agent", *messages)
        return Span(
            trace_id="t1",
            span_id=original.span_id,
            name=original.name,
            start=start,
            end=start + 1,
            attributes=attributes,
            events=original.events,
        )

    call: Json = {"type": "function_call", "id": "c1", "name": "find", "arguments": {"id": 7}}
    output: Json = {"type": "function_call_output", "id": "c1", "output": "shipped"}
    text: Json = {"type": "text", "content": "Where?"}
    first = invoked(1, text, {"type": "tool_call", "content": call})
    reply: Json = {"type": "text", "content": "It shipped."}
    second = invoked(5, {"type": "tool_call_output", "content": output}, reply)
    (turn,) = to_traces([first, second])[0].turns
    assert (turn.user, turn.response, turn.agents) == ("Where?", "It shipped.", ("shop",))
    assert calls(turn) == [("find", {"id": 7}, "c1")]
    assert [result.result for result in turn.tool_results] == ["shipped"]
    assert [call.usage.input_tokens for call in turn.model_calls] == [1, 5]
