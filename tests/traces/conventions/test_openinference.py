from __future__ import annotations

import json

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


def trace(*spans: Span) -> Trace:
    (found,) = to_traces(spans)
    return found


def test_a_crew_is_given_its_tasks_and_answers_raw():
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
    used = span(
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
    found = trace(crew, writer, used)
    turn = found.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Write about tides.", "Tides.", ("Writer",))
    assert [(c.name, c.args, c.agent) for c in turn.tool_calls or ()] == [
        ("tide", {"city": "Oslo"}, "Writer")
    ]
    assert found.usage == Usage(input_tokens=9, output_tokens=3)


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
    used = span(
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
    found = trace(root, used)
    turn = found.turns[0]
    assert (turn.user, turn.response) == ("When is high tide?", "At six.")
    assert [(c.id, c.args) for c in turn.tool_calls or ()] == [("toolu_1", {"command": "tide"})]
    assert found.usage == Usage(input_tokens=4, output_tokens=7, cached_tokens=2)


def test_the_bogus_model_span_of_llama_index_and_printed_outputs_are_passed_over():
    found = trace(
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
    assert (found.turns[0].user, found.turns[0].response) == ("When is high tide?", "At six.")
    assert len(found.model_calls) == 1


def test_nested_attributes_are_spelled_out():
    found = trace(
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
    assert (found.turns[0].user, found.turns[0].response) == ("tide?", "six")
    assert found.usage == Usage(input_tokens=5)


def test_retrieved_documents_are_the_grounding():
    found = trace(
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
    assert found.turns[0].grounding == ("High tide at six.", "Low tide at noon.")


def test_content_that_adot_moved_into_a_log_record_is_read_from_there():
    asked: Json = {
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
        name="openinference.instrumentation.langchain", body={"input": asked, "output": recorded}
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
    assert [(t.user, t.response) for t in trace(only).turns] == [("tide?", "six")]


def model(key: str, parent: str | None, start: int, **more: Json) -> Span:
    return span(key, parent, start, {"openinference.span.kind": "LLM"} | more)


def asking(name: str, **more: Json) -> dict[str, Json]:
    base = "llm.output_messages.0.message."
    recorded: dict[str, Json] = {
        f"{base}tool_calls.0.tool_call.{key}": v for key, v in more.items()
    }
    return {
        f"{base}role": "assistant",
        f"{base}tool_calls.0.tool_call.function.name": name,
    } | recorded


def test_a_handoff_is_not_a_second_call_beside_the_requested_one():
    asked = model("generation", None, 1, **asking("transfer_to_bob", id="c1"))
    handed = span(
        "handoff to bob",
        None,
        2,
        {"openinference.span.kind": "TOOL", "input.value": "ann", "output.value": "bob"},
    )
    turn = trace(asked, handed).turns[0]
    assert [(c.name, c.id, c.args) for c in turn.tool_calls or ()] == [
        ("transfer_to_bob", "c1", {})
    ]


def test_missing_arguments_are_empty_unless_the_tool_span_has_them():
    asked = model("generation", None, 1, **asking("tide", id="c1"))
    ran = span(
        "tide",
        None,
        2,
        {"openinference.span.kind": "TOOL", "tool.name": "tide", "input.value": '{"city": "Oslo"}'},
    )
    turn = trace(asked, ran).turns[0]
    assert [c.args for c in turn.tool_calls or ()] == [{"city": "Oslo"}]


def test_a_graph_is_the_agent_and_its_node_named_agent_is_not():
    graph = json.dumps({"ls_integration": "langgraph"})
    node = json.dumps({"ls_integration": "langgraph", "langgraph_node": "agent"})
    asked = {"input.value": json.dumps({"messages": [["user", "When?"]]})}
    root = span("guide", None, 1, {"openinference.span.kind": "CHAIN", "metadata": graph, **asked})
    step = span(
        "agent", "guide", 2, {"openinference.span.kind": "AGENT", "metadata": node, **asked}
    )
    used: dict[str, Json] = {
        "openinference.span.kind": "AGENT",
        "tool.name": "tide_agent",
        "input.value": "Oslo",
    }
    turn = trace(root, step, span("tide_agent", "guide", 3, used)).turns[0]
    assert turn.agents == ("guide",)
    assert [c.name for c in turn.tool_calls or ()] == ["tide_agent"]


def test_ids_that_the_messages_lack_are_in_the_whole_output():
    kwargs: Json = {"content": "", "tool_calls": [{"name": "tide", "args": {}, "id": "c1"}]}
    whole: Json = {
        "generations": [
            [{"message": {"id": ["AIMessage"], "kwargs": kwargs, "type": "constructor"}}]
        ]
    }
    asked = model("llm", None, 1, **asking("tide"), **{"output.value": json.dumps(whole)})
    assert [c.id for c in trace(asked).turns[0].tool_calls or ()] == ["c1"]


def test_what_the_processor_left_under_the_old_names_is_read():
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
    found = trace(counted, ran)
    assert found.usage == Usage(cached_tokens=4)
    assert [(r.id, r.error) for r in found.turns[0].tool_results] == [("c1", "down")]


def test_metadata_that_phoenix_took_apart_names_the_thread():
    recorded: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata.thread_id": "th-1"}
    assert trace(span("root", None, 1, recorded), model("llm", "root", 2)).conversation == "th-1"


def test_the_messages_of_a_crews_agent_tell_the_ids_of_its_calls():
    called: Json = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
    said: Json = [
        {"role": "user", "content": "Current Task: tide?"},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "content": "at six", "tool_call_id": "c1", "name": "tide"},
    ]
    worker: dict[str, Json] = {
        "openinference.span.kind": "AGENT",
        "graph.node.id": "pilot",
        "crew_id": "c",
        "output.value": json.dumps({"raw": "six", "messages": said}),
    }
    ran: dict[str, Json] = {"openinference.span.kind": "TOOL", "tool.name": "tide"}
    spans = [
        Span("t1", "a", None, "pilot._execute_core", start=1, end=9, attributes=worker),
        Span("t1", "b", "a", "tide.run", start=2, end=3, attributes=ran),
    ]
    turn = to_traces(spans)[0].turns[0]
    assert [(call.name, call.id) for call in turn.tool_calls or ()] == [("tide", "c1")]
    assert [result.result for result in turn.tool_results] == ["at six"]


def test_a_chain_that_bears_the_name_of_langchains_agent_is_the_agent():
    def chain(key: str, parent: str | None, start: int, agent: str) -> Span:
        metadata = json.dumps({"ls_integration": "langchain_create_agent", "lc_agent_name": agent})
        held: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata": metadata}
        return span(key, parent, start, held)

    def tool(key: str, parent: str, start: int) -> Span:
        return span(key, parent, start, {"openinference.span.kind": "TOOL", "tool.name": key})

    found = trace(
        chain("captain", None, 1, "captain"),
        chain("tools", "captain", 2, "captain"),
        tool("ask_pilot", "tools", 3),
        chain("pilot", "ask_pilot", 4, "pilot"),
        tool("tide", "pilot", 5),
    )
    assert [(call.name, call.agent) for call in found.turns[0].tool_calls or ()] == [
        ("ask_pilot", "captain"),
        ("tide", "pilot"),
    ]


def test_the_failure_of_a_tool_is_only_in_the_whole_request():
    called = "llm.output_messages.0.message.tool_calls.0.tool_call"
    one: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        f"{called}.id": "c1",
        f"{called}.function.name": "tide",
    }
    block: Json = {"type": "tool_result", "tool_use_id": "c1", "content": "down", "is_error": True}
    two: dict[str, Json] = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.content": "down",
        "llm.input_messages.0.message.tool_call_id": "c1",
        "input.value": json.dumps({"messages": [{"role": "user", "content": [block]}]}),
    }
    (result,) = trace(span("one", None, 1, one), span("two", None, 3, two)).turns[0].tool_results
    assert (result.result, result.error) == ("down", "down")


def test_dspys_outermost_module_has_the_question_and_the_answer():
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
    turn = trace(
        span("ReAct.forward", None, 1, module),
        span("LM.__call__", "ReAct.forward", 2, prompt),
        span("tide.__call__", "ReAct.forward", 3, ran),
    ).turns[0]
    assert (turn.user, turn.response, turn.agents) == ("tide?", "at six", ())
    assert [call.name for call in turn.tool_calls or ()] == ["tide"]


def test_an_agent_with_nothing_but_a_kind_is_recognized_by_its_position():
    bare: dict[str, Json] = {"openinference.span.kind": "AGENT"}
    ran: dict[str, Json] = {"openinference.span.kind": "TOOL", "tool.name": "tide"}
    found = trace(
        span("Agent workflow", None, 1, bare),
        span("pilot", "Agent workflow", 2, bare),
        span("tide", "pilot", 3, ran),
    )
    assert found.turns[0].agents == ("pilot",)
    bare |= {"langfuse.observation.type": "agent", "langfuse.trace.name": "Agent workflow"}
    run, pilot = span("Agent workflow", None, 1, bare), span("pilot", "Agent workflow", 2, bare)
    assert trace(run, pilot).turns[0].agents == ("pilot",)


def test_adks_agents_are_identified_by_the_names_of_their_spans():
    held: dict[str, Json] = {"openinference.span.kind": "AGENT", "output.value": "six"}
    assert trace(span("agent_run [pilot]", None, 1, held)).turns[0].agents == ("pilot",)


def test_haystacks_printed_messages_tell_what_its_agent_did():
    meta = "_name=None, _meta={'model': 'gpt-4o', 'at': <object at 0x7f>})"
    asked = f"ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Hi')], {meta}"
    call = "ToolCall(tool_name='find', arguments={'id': 7}, id='c1', extra=None)"
    wanted = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[{call}], {meta}"
    result = f'ToolCallResult(result="isn\'t here", origin={call}, error=True)'
    recorded = f"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[{result}], {meta}"
    said = f"_content=[TextContent(text='Sorry, no.')], {meta}"
    last = f"ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, {said}"
    held: dict[str, Json] = {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"messages": [asked], "tools": None}),
        "output.value": json.dumps({"messages": [asked, wanted, recorded, last]}),
    }
    span = Span(trace_id="t1", span_id="s1", name="Agent.run", start=1, end=9, attributes=held)
    turn = to_traces([span])[0].turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Hi", "Sorry, no.", ())
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("find", {"id": 7}, "c1")
    ]
    assert [result.error for result in turn.tool_results] == ["isn't here"]


def test_agents_within_one_chain_with_a_user_message_are_steps_of_one_turn():
    def node(name: str, start: int) -> Span:
        recorded = json.dumps({"langgraph_node": name, "lc_agent_name": name})
        held: dict[str, Json] = {"openinference.span.kind": "CHAIN", "metadata": recorded}
        return Span(
            trace_id="t1",
            span_id=f"{name}{start}",
            parent_id="root",
            name=name,
            start=start,
            end=start + 1,
            attributes=held,
        )

    asked = json.dumps({"messages": [{"type": "human", "content": "Where?"}]})
    root = span("root", None, 1, {"openinference.span.kind": "CHAIN", "input.value": asked})
    found = trace(root, node("host", 2), node("orders", 4), node("host", 6))
    assert [turn.agents for turn in found.turns] == [("host", "orders", "host")]
