from __future__ import annotations

import json
from typing import Literal

import msgspec

from carob.schema import Json, Span, SpanEvent, Trace, Usage
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, attributes: dict[str, Json]) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=key,
        start=start,
        end=start + 1,
        attributes=attributes,
    )


def to_trace(*spans: Span) -> Trace:
    (trace,) = to_traces(spans)
    return trace


def test_crew_input_is_its_tasks_and_the_response_its_raw_output():
    crew = span(
        "Crew_1.kickoff",
        None,
        1,
        {
            "openinference.span.kind": "CHAIN",
            "crew_id": "1",
            "crew_tasks": json.dumps([{"description": "Write about tides."}]),
            "output.value": json.dumps(
                {"raw": "Tides.", "token_usage": {"prompt_tokens": 9, "completion_tokens": 3}}
            ),
        },
    )
    writer = span(
        "writer._execute_core",
        "Crew_1.kickoff",
        2,
        {"openinference.span.kind": "AGENT", "graph.node.id": "Writer", "input.value": "{}"},
    )
    tool_span = span(
        "ToolUsage._use",
        "writer._execute_core",
        3,
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "",
            "input.value": json.dumps({"calling": "tool_name='tide' arguments={'city': 'Oslo'}"}),
            "output.value": "06:10",
        },
    )
    trace = to_trace(crew, writer, tool_span)
    turn = trace.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Write about tides.", "Tides.", ("Writer",))
    assert [(c.name, c.args, c.agent) for c in turn.tool_calls or ()] == [
        ("tide", {"city": "Oslo"}, "Writer")
    ]
    assert trace.usage == Usage(input_tokens=9, output_tokens=3)


def test_claude_agent_sdk_records_arguments_as_parameters_and_usage_on_the_agent():
    root = span(
        "ClaudeAgentSDK.query",
        None,
        1,
        {
            "openinference.span.kind": "AGENT",
            "input.value": "When is high tide?",
            "output.value": "At six.",
            "llm.model_name": "claude",
            "llm.token_count.prompt": 4,
            "llm.token_count.completion": 7,
            "llm.token_count.prompt_details.cache_read": 2,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content.0": "Let me look.",
        },
    )
    tool_span = span(
        "Bash",
        "ClaudeAgentSDK.query",
        2,
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "Bash",
            "tool.id": "toolu_1",
            "tool.parameters": '{"command": "tide"}',
        },
    )
    trace = to_trace(root, tool_span)
    turn = trace.turns[0]
    assert (turn.user, turn.response) == ("When is high tide?", "At six.")
    assert [(c.id, c.args) for c in turn.tool_calls or ()] == [("toolu_1", {"command": "tide"})]
    assert trace.usage == Usage(input_tokens=4, output_tokens=7, cached_tokens=2)


def test_duplicate_model_span_of_llama_index_and_printed_outputs_are_ignored():
    trace = to_trace(
        span(
            "FunctionAgent.run",
            None,
            1,
            {
                "openinference.span.kind": "AGENT",
                "input.value": json.dumps({"user_msg": "When is high tide?"}),
                "output.value": "AgentOutput(response=ChatMessage(role=...), tool_calls=[])",
            },
        ),
        span(
            "OpenAI._prepare_chat_with_tools",
            "FunctionAgent.run",
            2,
            {"openinference.span.kind": "LLM"},
        ),
        span(
            "OpenAI.astream_chat",
            "FunctionAgent.run",
            3,
            {
                "openinference.span.kind": "LLM",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
                "llm.output_messages.0.message.contents.0.message_content.text": "hm",
                "llm.output_messages.0.message.contents.1.message_content.type": "text",
                "llm.output_messages.0.message.contents.1.message_content.text": "At six.",
            },
        ),
    )
    assert (trace.turns[0].user, trace.turns[0].response) == ("When is high tide?", "At six.")
    assert len(trace.model_calls) == 1


def test_nested_attributes_are_flattened():
    trace = to_trace(
        span(
            "chat",
            None,
            1,
            {
                "openinference": {"span": {"kind": "LLM"}},
                "llm": {
                    "token_count": {"prompt": 5},
                    "input_messages": [{"message": {"role": "user", "content": "tide?"}}],
                    "output_messages": [{"message": {"role": "assistant", "content": "six"}}],
                },
            },
        )
    )
    assert (trace.turns[0].user, trace.turns[0].response) == ("tide?", "six")
    assert trace.usage == Usage(input_tokens=5)


def test_retrieved_documents_are_the_grounding():
    trace = to_trace(
        span("agent", None, 1, {"openinference.span.kind": "AGENT", "input.value": "tide?"}),
        span(
            "search",
            "agent",
            2,
            {
                "openinference.span.kind": "RETRIEVER",
                "retrieval.documents.0.document.content": "High tide at six.",
                "retrieval.documents.1.document.content": "Low tide at noon.",
            },
        ),
    )
    assert trace.turns[0].grounding == ("High tide at six.", "Low tide at noon.")


def test_content_moved_into_a_log_record_by_adot_is_read():
    input_messages: Json = {
        "messages": [
            {"role": "user", "content": '{"messages": [{"type": "human", "content": "tide?"}]}'}
        ]
    }
    recorded: Json = {
        "messages": [
            {"role": "assistant", "content": '{"messages": [{"type": "ai", "content": "six"}]}'}
        ]
    }
    log = SpanEvent(
        name="openinference.instrumentation.langchain",
        body={"input": input_messages, "output": recorded},
    )
    only = Span(
        trace_id="t1",
        span_id="a",
        name="log",
        start=1,
        end=2,
        events=(log,),
        scope="openinference.instrumentation.langchain",
    )
    assert [(t.user, t.response) for t in to_trace(only).turns] == [("tide?", "six")]


def model(key: str, parent: str | None, start: int, **more: Json) -> Span:
    return span(key, parent, start, {"openinference.span.kind": "LLM"} | more)


def call_attributes(name: str, **more: Json) -> dict[str, Json]:
    base = "llm.output_messages.0.message."
    recorded: dict[str, Json] = {
        f"{base}tool_calls.0.tool_call.{key}": v for key, v in more.items()
    }
    return {
        f"{base}role": "assistant",
        f"{base}tool_calls.0.tool_call.function.name": name,
    } | recorded


def test_handoff_is_not_a_second_call():
    model_span = model("generation", None, 1, **call_attributes("transfer_to_bob", id="c1"))
    handed = span(
        "handoff to bob",
        None,
        2,
        {"openinference.span.kind": "TOOL", "input.value": "ann", "output.value": "bob"},
    )
    turn = to_trace(model_span, handed).turns[0]
    assert [(c.name, c.id, c.args) for c in turn.tool_calls or ()] == [
        ("transfer_to_bob", "c1", {})
    ]


def test_missing_arguments_are_empty_unless_the_tool_span_has_them():
    model_span = model("generation", None, 1, **call_attributes("tide", id="c1"))
    ran = span(
        "tide",
        None,
        2,
        {"openinference.span.kind": "TOOL", "tool.name": "tide", "input.value": '{"city": "Oslo"}'},
    )
    turn = to_trace(model_span, ran).turns[0]
    assert [c.args for c in turn.tool_calls or ()] == [{"city": "Oslo"}]


def test_graph_is_the_agent_and_its_node_named_agent_is_not():
    graph = json.dumps({"ls_integration": "langgraph"})
    node = json.dumps({"ls_integration": "langgraph", "langgraph_node": "agent"})
    question = {"input.value": json.dumps({"messages": [["user", "When?"]]})}
    root = span(
        "guide", None, 1, {"openinference.span.kind": "CHAIN", "metadata": graph, **question}
    )
    step = span(
        "agent", "guide", 2, {"openinference.span.kind": "AGENT", "metadata": node, **question}
    )
    tool_attributes: dict[str, Json] = {
        "openinference.span.kind": "AGENT",
        "tool.name": "tide_agent",
        "input.value": "Oslo",
    }
    turn = to_trace(root, step, span("tide_agent", "guide", 3, tool_attributes)).turns[0]
    assert turn.agents == ("guide",)
    assert [c.name for c in turn.tool_calls or ()] == ["tide_agent"]


def test_missing_message_ids_come_from_the_raw_output():
    kwargs: Json = {"content": "", "tool_calls": [{"name": "tide", "args": {}, "id": "c1"}]}
    output: Json = {
        "generations": [
            [{"message": {"id": ["AIMessage"], "kwargs": kwargs, "type": "constructor"}}]
        ]
    }
    model_span = model(
        "llm", None, 1, **call_attributes("tide"), **{"output.value": json.dumps(output)}
    )
    assert [c.id for c in to_trace(model_span).turns[0].tool_calls or ()] == ["c1"]


def test_attributes_with_the_old_names_are_read():
    counted = model("chat", None, 1, **{"gen_ai.usage.cache_read_input_tokens": 4})
    ran = span(
        "tide",
        None,
        2,
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "tide",
            "tool.call_id": "c1",
            "output.value": "down",
            "gen_ai.tool.status": "error",
        },
    )
    trace = to_trace(counted, ran)
    assert trace.usage == Usage(cached_tokens=4)
    assert [(r.id, r.error) for r in trace.turns[0].tool_results] == [("c1", "down")]


def test_thread_id_is_read_from_flattened_phoenix_metadata():
    recorded: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata.thread_id": "th-1"}
    assert to_trace(span("root", None, 1, recorded), model("llm", "root", 2)).conversation == "th-1"


def test_call_ids_come_from_the_messages_of_the_crew_agent():
    tool_call: Json = {
        "id": "c1",
        "type": "function",
        "function": {"name": "tide", "arguments": "{}"},
    }
    messages: Json = [
        {"role": "user", "content": "Current Task: tide?"},
        {"role": "assistant", "content": "", "tool_calls": [tool_call]},
        {"role": "tool", "content": "at six", "tool_call_id": "c1", "name": "tide"},
    ]
    worker: dict[str, Json] = {
        "openinference.span.kind": "AGENT",
        "graph.node.id": "pilot",
        "crew_id": "c",
        "output.value": json.dumps({"raw": "six", "messages": messages}),
    }
    ran: dict[str, Json] = {"openinference.span.kind": "TOOL", "tool.name": "tide"}
    spans = [
        Span("t1", "a", None, "pilot._execute_core", start=1, end=9, attributes=worker),
        Span("t1", "b", "a", "tide.run", start=2, end=3, attributes=ran),
    ]
    turn = to_traces(spans)[0].turns[0]
    assert [(call.name, call.id) for call in turn.tool_calls or ()] == [("tide", "c1")]
    assert [result.result for result in turn.tool_results] == ["at six"]


def test_chain_named_like_the_langchain_agent_is_the_agent():
    def chain(key: str, parent: str | None, start: int, agent: str) -> Span:
        metadata = json.dumps({"ls_integration": "langchain_create_agent", "lc_agent_name": agent})
        attributes: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata": metadata}
        return span(key, parent, start, attributes)

    def tool(key: str, parent: str, start: int) -> Span:
        return span(key, parent, start, {"openinference.span.kind": "TOOL", "tool.name": key})

    trace = to_trace(
        chain("captain", None, 1, "captain"),
        chain("tools", "captain", 2, "captain"),
        tool("ask_pilot", "tools", 3),
        chain("pilot", "ask_pilot", 4, "pilot"),
        tool("tide", "pilot", 5),
    )
    assert [(call.name, call.agent) for call in trace.turns[0].tool_calls or ()] == [
        ("ask_pilot", "captain"),
        ("tide", "pilot"),
    ]


def test_tool_failure_is_read_from_the_raw_request():
    prefix = "llm.output_messages.0.message.tool_calls.0.tool_call"
    attributes: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        f"{prefix}.id": "c1",
        f"{prefix}.function.name": "tide",
    }
    block: Json = {"type": "tool_result", "tool_use_id": "c1", "content": "down", "is_error": True}
    two: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.content": "down",
        "llm.input_messages.0.message.tool_call_id": "c1",
        "input.value": json.dumps({"messages": [{"role": "user", "content": [block]}]}),
    }
    (result,) = (
        to_trace(span("one", None, 1, attributes), span("two", None, 3, two)).turns[0].tool_results
    )
    assert (result.result, result.error) == ("down", "down")


def test_outermost_dspy_module_has_question_and_answer():
    module: dict[str, Json] = {
        "openinference.span.kind": "CHAIN",
        "input.value": '{"input_args": {"question": "tide?"}}',
        "output.value": '{"reasoning": "…", "answer": "at six"}',
    }
    prompt: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "[[ ## question ## ]] tide?",
    }
    ran: dict[str, Json] = {"openinference.span.kind": "TOOL", "input.value": '{"kwargs": {}}'}
    turn = to_trace(
        span("ReAct.forward", None, 1, module),
        span("LM.__call__", "ReAct.forward", 2, prompt),
        span("tide.__call__", "ReAct.forward", 3, ran),
    ).turns[0]
    assert (turn.user, turn.response, turn.agents) == ("tide?", "at six", ())
    assert [call.name for call in turn.tool_calls or ()] == ["tide"]


def test_agent_with_only_a_kind_is_identified_by_its_position():
    bare: dict[str, Json] = {"openinference.span.kind": "AGENT"}
    ran: dict[str, Json] = {"openinference.span.kind": "TOOL", "tool.name": "tide"}
    trace = to_trace(
        span("Agent workflow", None, 1, bare),
        span("pilot", "Agent workflow", 2, bare),
        span("tide", "pilot", 3, ran),
    )
    assert trace.turns[0].agents == ("pilot",)
    bare |= {"langfuse.observation.type": "agent", "langfuse.trace.name": "Agent workflow"}
    run, pilot = span("Agent workflow", None, 1, bare), span("pilot", "Agent workflow", 2, bare)
    assert to_trace(run, pilot).turns[0].agents == ("pilot",)


def test_adk_agents_are_identified_by_their_span_names():
    attributes: dict[str, Json] = {"openinference.span.kind": "AGENT", "output.value": "six"}
    assert to_trace(span("agent_run [pilot]", None, 1, attributes)).turns[0].agents == ("pilot",)


def test_printed_haystack_messages_are_read():
    meta = "_name=None, _meta={'model': 'gpt-4o', 'at': <object at 0x7f>})"
    question = (
        f"ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Hi')], {meta}"
    )
    call = "ToolCall(tool_name='find', arguments={'id': 7}, id='c1', extra=None)"
    request = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[{call}], {meta}"
    result = f'ToolCallResult(result="isn\'t here", origin={call}, error=True)'
    recorded = f"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[{result}], {meta}"
    answer = f"_content=[TextContent(text='Sorry, no.')], {meta}"
    last = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, {answer}"
    attributes: dict[str, Json] = {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"messages": [question], "tools": None}),
        "output.value": json.dumps({"messages": [question, request, recorded, last]}),
    }
    span = Span(
        trace_id="t1", span_id="s1", name="Agent.run", start=1, end=9, attributes=attributes
    )
    turn = to_traces([span])[0].turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Hi", "Sorry, no.", ())
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("find", {"id": 7}, "c1")
    ]
    assert [result.error for result in turn.tool_results] == ["isn't here"]


def test_agents_within_one_chain_with_a_user_message_are_steps_of_one_turn():
    def node(name: str, start: int) -> Span:
        recorded = json.dumps({"langgraph_node": name, "lc_agent_name": name})
        attributes: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata": recorded}
        return Span(
            trace_id="t1",
            span_id=f"{name}{start}",
            parent_id="root",
            name=name,
            start=start,
            end=start + 1,
            attributes=attributes,
        )

    question = json.dumps({"messages": [{"type": "human", "content": "Where?"}]})
    root = span("root", None, 1, {"openinference.span.kind": "CHAIN", "input.value": question})
    trace = to_trace(root, node("host", 2), node("orders", 4), node("host", 6))
    assert [turn.agents for turn in trace.turns] == [("host", "orders", "host")]


def test_agent_without_model_calls_below_a_chain_does_not_answer():
    """A router that LangChain's instrumentation takes for an agent because of its name."""
    asked: Json = {"messages": [{"kwargs": {"content": "Is Rome warmer?", "type": "human"}}]}
    chain = span(
        "LangGraph", None, 1, {"openinference.span.kind": "CHAIN", "input.value": json.dumps(asked)}
    )
    model = span(
        "ChatX",
        "LangGraph",
        2,
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Is Rome warmer?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Yes.",
        },
    )
    router = span(
        "route_to_agent",
        "LangGraph",
        4,
        {
            "openinference.span.kind": "AGENT",
            "input.value": "{'agent_name': 'research'}",
            "output.value": '{"result": "done"}',
        },
    )
    (turn,) = to_trace(chain, model, router).turns
    assert (turn.user, turn.response) == ("Is Rome warmer?", "Yes.")


def numbered(prefix: str, index: int, role: str, text: str) -> dict[str, Json]:
    base = f"llm.{prefix}_messages.{index}.message"
    return {f"{base}.role": role, f"{base}.content": text}


LIMIT: dict[str, Json] = {"otel.dropped_attributes_count": 4}


def read_turn(**attributes: Json) -> tuple[str | None, str | None, object]:
    (turn,) = to_trace(
        span("llm", None, 1, {"openinference.span.kind": "LLM", **attributes, **LIMIT})
    ).turns
    return turn.user, turn.response, turn.tool_calls


def test_question_beyond_the_limit_of_attributes_is_not_the_one_before():
    earlier = numbered("input", 0, "user", "Is it open?")
    cut = {**numbered("input", 1, "assistant", "Yes."), "llm.input_messages.2.message.role": "user"}
    assert read_turn(**earlier, **cut) == (None, None, None)
    raw: Json = json.dumps({"messages": [{"role": "user", "content": "Until when?"}]})
    assert read_turn(**{"input.value": raw}, **earlier, **cut) == ("Until when?", None, None)


def test_call_beyond_the_limit_of_attributes_is_not_complete():
    call = "llm.output_messages.0.message.tool_calls.0.tool_call.function.name"
    asked = numbered("input", 0, "user", "Is it open?")
    reply = {"llm.output_messages.0.message.role": "assistant", call: "get_hours"}
    assert read_turn(**asked, **reply) == ("Is it open?", None, None)


def test_last_messages_are_read_if_the_first_ones_were_dropped():
    kept = numbered("input", 7, "assistant", "Yes.") | numbered("input", 8, "user", "Until when?")
    output = numbered("output", 0, "assistant", "Until six.")
    assert read_turn(**kept, **output, **{"llm.finish_reason": "stop"}) == (
        "Until when?",
        "Until six.",
        (),
    )


def guarded(*, status: Literal["error", "ok"]) -> Trace:
    def kind(name: str, **more: Json) -> dict[str, Json]:
        return {"openinference.span.kind": name, **more}

    def wide(key: str, parent: str | None, end: int, attributes: dict[str, Json]) -> Span:
        return msgspec.structs.replace(span(key, parent, 1, attributes), end=end)

    step = wide("turn", "guide", 20, kind("CHAIN"))
    return to_trace(
        wide("guide", None, 30, kind("AGENT", **{"graph.node.id": "guide"})),
        msgspec.structs.replace(step, status=status, status_message="tripwire"),
        span("llm", "turn", 2, {**kind("LLM"), **numbered("output", 0, "assistant", "Hello!")}),
        wide("check", "turn", 9, kind("GUARDRAIL")),
        wide("guard", "check", 8, kind("AGENT", **{"graph.node.id": "guard"})),
        span("judge", "guard", 4, {**kind("LLM"), **numbered("output", 0, "assistant", "safe")}),
    )


def test_verdict_of_a_guardrail_is_not_the_response():
    (turn,) = guarded(status="ok").turns
    assert (turn.response, turn.error) == ("Hello!", None)
    assert [call.agent for call in turn.model_calls] == ["guide", "guard"]


def test_run_that_a_guardrail_stopped_has_an_error_and_no_response():
    (turn,) = guarded(status="error").turns
    assert (turn.response, turn.error) == (None, "tripwire")


def test_structured_result_of_pydantic_ai_is_the_whole_response():
    result: Json = '{"celsius":18,"text":"sunny"}'
    run = {"openinference.span.kind": "AGENT", "agent_name": "guide", "output.value": result}
    (turn,) = to_trace(span("run", None, 1, {**run, "final_result": result})).turns
    assert turn.response == result


def test_list_that_a_tool_returned_is_its_result_where_another_result_is_empty():
    attributes: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        **received(0, "user", content="Where to sleep in Oslo?"),
        **received(1, "assistant", call=("c1", "find_hotels")),
        **received(2, "tool", content='[{"name": "Old Mill"}]', tool_call_id="c1"),
        **received(3, "assistant", call=("c2", "list_closures")),
        **received(4, "tool", tool_call_id="c2"),  # an empty text is not recorded
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "In the Old Mill.",
    }
    (turn,) = to_trace(span("ChatCompletion", None, 1, attributes)).turns
    assert [(result.id, result.result) for result in turn.tool_results] == [
        ("c1", [{"name": "Old Mill"}])
    ]


def received(
    index: int, role: str, call: tuple[str, str] | None = None, **fields: Json
) -> dict[str, Json]:
    """The attributes of one input message."""
    base = f"llm.input_messages.{index}.message"
    attributes: dict[str, Json] = {f"{base}.{key}": value for key, value in fields.items()}
    attributes[f"{base}.role"] = role
    if call is not None:
        first = f"{base}.tool_calls.0.tool_call"
        attributes |= {f"{first}.id": call[0], f"{first}.function.name": call[1]}
    return attributes
