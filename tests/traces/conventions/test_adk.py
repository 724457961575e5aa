from __future__ import annotations

import json

from carob.schema import Json, Span, Trace, Usage
from carob.traces.mapping.traces import to_traces

USER: Json = {"role": "user", "parts": [{"text": "tide?"}]}


def span(name: str, key: str, parent: str | None, **attributes: Json) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=name,
        start=int(key),
        end=int(key) + 1,
        attributes=attributes,
    )


def call(key: str, contents: list[Json], parts: Json, **usage: Json) -> Span:
    response: Json = {"content": {"role": "model", "parts": parts}, "usage_metadata": usage}
    attributes: dict[str, Json] = {
        "gen_ai.system": "gcp.vertex.agent",
        "gcp.vertex.agent.session_id": "s-1",
        "gcp.vertex.agent.llm_request": json.dumps({"contents": contents}),
        "gcp.vertex.agent.llm_response": json.dumps(response),
    }
    return span("call_llm", key, "2", **attributes)


def to_trace(*spans: Span) -> Trace:
    (trace,) = to_traces(
        [span("invocation", "1", None), span("agent_run [guide]", "2", "1"), *spans]
    )
    return trace


def test_spans_without_attributes_are_identified_by_their_names():
    trace = to_trace(call("3", [USER], [{"text": "six"}]))
    assert (trace.convention, trace.conversation) == ("adk", "s-1")
    assert [(t.user, t.response, t.agents) for t in trace.turns] == [("tide?", "six", ("guide",))]


def test_handover_texts_of_adk_are_not_user_text():
    context: Json = {"role": "user", "parts": [{"text": "For context:"}, {"text": "[a] said x"}]}
    assert to_trace(call("3", [USER, context], [{"text": "six"}])).turns[0].user == "tide?"


def test_cached_and_thought_tokens_come_from_the_response():
    counted = call(
        "3",
        [USER],
        [{"text": "six"}],
        prompt_token_count=9,
        candidates_token_count=3,
        cached_content_token_count=4,
        thoughts_token_count=2,
    )
    assert to_trace(counted).usage == Usage(
        input_tokens=9, output_tokens=5, cached_tokens=4, reasoning_tokens=2
    )


def test_thoughts_count_as_output_even_if_the_attribute_excludes_them():
    counted = call("3", [USER], [{"text": "six"}], candidates_token_count=3, thoughts_token_count=2)
    counted.attributes["gen_ai.usage.output_tokens"] = 3
    assert to_trace(counted).usage == Usage(output_tokens=5, reasoning_tokens=2)


def test_decoded_response_is_read():
    usage: Json = {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": None}
    counted = call("3", [USER], [{"text": "six"}])
    counted.attributes["gcp.vertex.agent.llm_response"] = {"usageMetadata": usage}
    assert to_trace(counted).usage == Usage(input_tokens=9, output_tokens=3)


def test_search_chunks_come_from_the_response():
    chunk: Json = {"web": {"uri": "https://tides.example"}}
    searched = call("3", [USER], [{"text": "six"}])
    response: Json = {"groundingMetadata": {"groundingChunks": [chunk, chunk]}}
    searched.attributes["gcp.vertex.agent.llm_response"] = json.dumps(response)
    assert to_trace(searched, call("4", [USER], [])).turns[0].grounding == (chunk, chunk)
    assert to_trace(call("3", [USER], [{"text": "six"}])).turns[0].grounding is None


def test_adk_tool_is_identified_by_any_adk_attribute():
    model_call = call("3", [USER], [{"function_call": {"name": "tide", "args": {}}}])
    attributes: dict[str, Json] = {"gcp.vertex.agent.tool_response": '{"height": 6}'}
    ran = span("execute_tool tide", "4", "3", **{"gen_ai.tool.name": "tide"}, **attributes)
    (result,) = to_trace(model_call, ran).turns[0].tool_results
    assert result.result == {"height": 6}


def test_agent_with_unknown_attributes_is_identified_by_its_name():
    agent = span("invoke_agent pilot", "2", "1", **{"gen_ai.agent.name": "pilot", "x": 1})
    (trace,) = to_traces([span("invocation", "1", None), agent, call("3", [USER], [])])
    assert trace.agents == ("pilot",)


def test_state_and_conversation_of_a_row_belong_to_the_trace():
    attributes: dict[str, Json] = {"carob.state": {"tide": 6}, "carob.conversation.id": "s-7"}
    plain = Span(
        trace_id="t1",
        span_id="1",
        name="call_llm",
        start=1,
        end=2,
        scope="gcp.vertex.agent",
        resource=attributes,
    )
    (trace,) = to_traces([plain])
    assert (trace.state, trace.conversation) == ({"tide": 6}, "s-7")


def test_calls_without_an_id_get_the_id_of_their_span():
    model_call = call("3", [USER], [{"function_call": {"name": "tide", "args": {"city": "Oslo"}}}])
    ran = span(
        "execute_tool tide",
        "4",
        "3",
        **{
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "tide",
            "gen_ai.tool.call.id": "adk-1",
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.tool_response": '{"status": "error"}',
        },
    )
    turn = to_trace(model_call, ran).turns[0]
    assert [(c.id, c.args) for c in turn.tool_calls or ()] == [("adk-1", {"city": "Oslo"})]
    assert [(r.result, r.error) for r in turn.tool_results] == [({"status": "error"}, None)]
    assert turn.response is None


def model_span(key: str, *parts: Json, results: list[Json] | None = None) -> Span:
    messages: list[Json] = [{"role": "user", "parts": [{"type": "text", "content": "tide?"}]}]
    if results:
        messages.append({"role": "user", "parts": results})
    return span(
        "generate_content gemini",
        key,
        "2",
        **{
            "gen_ai.operation.name": "generate_content",
            "gcp.vertex.agent.event_id": key,
            "gen_ai.input.messages": json.dumps(messages),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        },
    )


def tide(key: str, call_id: str) -> Span:
    return span(
        "execute_tool tide",
        key,
        "2",
        **{
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "tide",
            "gen_ai.tool.call.id": call_id,
            "gcp.vertex.agent.event_id": key,
        },
    )


def test_numbered_id_is_replaced_by_the_id_of_the_span():
    call: Json = {
        "type": "tool_call",
        "id": "tide_0",
        "name": "tide",
        "arguments": {"city": "Oslo"},
    }
    again: Json = {**call, "arguments": {"city": "Bodo"}}
    answers: list[Json] = [
        {"type": "tool_call_response", "id": "tide_0", "response": {"result": hour}}
        for hour in ("six", "ten")
    ]
    turn = to_trace(
        model_span("3", call),
        tide("4", "adk-7df150a4-d395-4169-9339-d2e7074dd304"),
        model_span("5", again, results=answers[:1]),
        tide("6", "adk-74e272c4-73f1-4243-85f6-5ad21b8fe316"),
        model_span("7", {"type": "text", "content": "six, ten"}, results=answers),
    ).turns[0]
    assert [(c.id, c.args) for c in turn.tool_calls or ()] == [
        ("adk-7df150a4-d395-4169-9339-d2e7074dd304", {"city": "Oslo"}),
        ("adk-74e272c4-73f1-4243-85f6-5ad21b8fe316", {"city": "Bodo"}),
    ]
    assert [r.result for r in turn.tool_results] == [{"result": "six"}, {"result": "ten"}]


def test_failed_tool_span_without_an_id_belongs_to_its_call():
    parts: Json = [{"function_call": {"id": "c1", "name": "tide", "args": {}}}]
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "tide",
        "gen_ai.tool.call.id": "<not specified>",
        "gcp.vertex.agent.tool_response": '{"result": "<not specified>"}',
        "error.type": "Timeout",
    }
    turn = to_trace(
        call("3", [USER], parts), span("execute_tool tide", "4", "2", **attributes)
    ).turns[0]
    assert [call.id for call in turn.tool_calls or ()] == ["c1"]
    assert [(result.id, result.result, result.error) for result in turn.tool_results] == [
        ("c1", None, "Timeout")
    ]


def test_thought_that_is_written_as_a_text_is_not_part_of_the_answer():
    parts: Json = [
        {"type": "text", "content": "The user wants the hours."},
        {"type": "text", "content": "Until six."},
    ]
    output = json.dumps([{"role": "assistant", "parts": parts}])

    def answer(**usage: Json) -> str | None:
        attributes: dict[str, Json] = {
            "gen_ai.operation.name": "generate_content",
            "gcp.vertex.agent.event_id": "e1",
            "gen_ai.output.messages": output,
            **{f"gen_ai.usage.{key}.output_tokens": value for key, value in usage.items()},
        }
        model = span("generate_content gemini", "3", "2", **attributes)
        return to_trace(model).turns[0].response

    assert answer(reasoning=40) == "Until six."
    assert answer(reasoning=0) == "The user wants the hours.Until six."
