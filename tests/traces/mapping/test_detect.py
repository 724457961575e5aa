"""Each convention is detected in minimal spans."""

from __future__ import annotations

import json

import msgspec
import pytest

from carob.schema import Json, Span, Trace, Usage
from carob.traces.mapping.detect import builtin_detector
from carob.traces.mapping.traces import to_traces


def to_trace(root: dict[str, Json], *children: dict[str, Json], names: str = "") -> Trace:
    span_names = names.split()
    spans = [
        Span(
            trace_id="t1",
            span_id=str(number),
            parent_id="0" if number else None,
            name=span_names[number] if number < len(span_names) else "",
            start=number,
            end=10 - number,
            attributes=attributes,
        )
        for number, attributes in enumerate((root, *children))
    ]
    (trace,) = to_traces(spans)
    return trace


def summarize(trace: Trace) -> Json:
    turn = trace.turns[0]
    calls: list[Json] = [[c.id, c.name, c.args] for c in turn.tool_calls or ()]
    results: list[Json] = [[r.result, r.error is not None] for r in turn.tool_results]
    return [trace.convention, list(turn.agents), turn.user, turn.response, calls, results]


def expected(convention: str, agent: str | None = "guide", call_id: str | None = "c1") -> Json:
    agents: list[Json] = [agent] if agent else []
    calls: Json = [[call_id, "tide", {"city": "Oslo"}]]
    return [convention, agents, "tide?", "six", calls, [["06:10", False]]]


def test_openai_agents_spans_are_read():
    call: Json = {
        "type": "function_call",
        "call_id": "c1",
        "name": "tide",
        "arguments": '{"city": "Oslo"}',
    }
    trace = to_trace(
        {
            "openai_agents.type": "trace",
            "openai_agents.workflow_name": "flow",
            "openai_agents.group_id": "s-1",
        },
        {"openai_agents.type": "agent", "openai_agents.name": "guide"},
        {
            "openai_agents.type": "generation",
            "openai_agents.model": "m",
            "openai_agents.input": [{"role": "user", "content": "tide?"}],
            "openai_agents.output": [call],
            "openai_agents.usage": {
                "input_tokens": 3,
                "output_tokens_details": {"reasoning_tokens": 1},
            },
        },
        {
            "openai_agents.type": "function",
            "openai_agents.name": "tide",
            "openai_agents.input": '{"city":"Oslo"}',
            "openai_agents.output": "06:10",
        },
        {
            "openai_agents.type": "generation",
            "openai_agents.output": [{"role": "assistant", "content": "six"}],
        },
    )
    assert summarize(trace) == expected("openai-agents")
    assert trace.conversation == "s-1"
    assert trace.model_calls[0].usage == Usage(input_tokens=3, reasoning_tokens=1)


def test_langsmith_runs_are_read():
    human: Json = {
        "lc": 1,
        "type": "constructor",
        "id": ["HumanMessage"],
        "kwargs": {"content": "tide?"},
    }
    answer: Json = {
        "kwargs": {"content": "six", "usage_metadata": {"input_tokens": 3}},
        "type": "constructor",
        "id": ["AIMessage"],
    }
    trace = to_trace(
        {
            "langsmith.run_type": "chain",
            "langsmith.inputs": {"messages": [{"role": "user", "content": "tide?"}]},
            "langsmith.outputs": {"messages": [{"type": "ai", "content": "six"}]},
            "langsmith.extra": {"metadata": {"thread_id": "s-1"}},
        },
        {
            "langsmith.run_type": "llm",
            "langsmith.inputs": {"messages": [[human]]},
            "langsmith.outputs": {"generations": [[{"text": "six", "message": answer}]]},
            "langsmith.extra": {"metadata": {"ls_model_name": "m"}},
        },
        {
            "langsmith.run_type": "tool",
            "langsmith.inputs": {"input": "{'city': 'Oslo'}"},
            "langsmith.outputs": {"output": {"content": "06:10", "tool_call_id": "c1"}},
        },
        names="guide ChatOpenAI tide",
    )
    assert summarize(trace) == expected("langsmith")
    assert (trace.conversation, trace.models, trace.usage.input_tokens) == ("s-1", ("m",), 3)


def test_result_of_a_failed_run_of_langsmith_comes_from_the_next_prompt():
    call: Json = {"name": "tide", "args": {"city": "Oslo"}, "id": "c1"}
    ai: Json = {"role": "assistant", "content": "", "tool_calls": [call]}
    tool_message: Json = {"role": "tool", "content": "no such city", "tool_call_id": "c1"}
    user_message: Json = {"role": "user", "content": "tide?"}
    spans = [
        Span(trace_id="t", span_id=str(at), parent_id="0" if at else None, start=at, end=9)
        for at in range(4)
    ]
    runs: list[tuple[str, Json, Json]] = [
        (
            "chain",
            {"messages": [user_message]},
            {"messages": [{"role": "assistant", "content": "none"}]},
        ),
        ("llm", {"messages": [user_message]}, {"messages": [ai]}),
        ("tool", {"city": "Oslo"}, {}),
        (
            "llm",
            {"messages": [user_message, ai, tool_message]},
            {"messages": [{"role": "assistant", "content": "none"}]},
        ),
    ]
    runs_as_spans = [
        msgspec.structs.replace(
            span,
            name="tide" if kind == "tool" else "guide",
            status="error" if kind == "tool" else "unset",
            attributes={
                "langsmith.run_type": kind,
                "langsmith.inputs": inputs,
                "langsmith.outputs": outputs,
            },
        )
        for span, (kind, inputs, outputs) in zip(spans, runs, strict=True)
    ]
    (trace,) = to_traces(runs_as_spans)
    assert [(r.id, r.result) for r in trace.turns[0].tool_results] == [("c1", "no such city")]


def test_langfuse_observations_are_read():
    trace = to_trace(
        {
            "langfuse.observation.type": "agent",
            "langfuse.observation.input": "tide?",
            "langfuse.session.id": "s-1",
        },
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "m",
            "langfuse.observation.output": '{"role": "assistant", "content": "six"}',
            "langfuse.observation.usage_details": '{"input": 3, "output": 1}',
        },
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": '{"city": "Oslo"}',
            "langfuse.observation.output": '"06:10"',
        },
        names="guide chat tide",
    )
    assert summarize(trace) == expected("langfuse", call_id=None)
    assert (trace.conversation, trace.usage) == ("s-1", Usage(input_tokens=3, output_tokens=1))


def test_langfuse_usage_accepts_the_keys_of_the_provider():
    counted = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    trace = to_trace(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.usage_details": json.dumps(counted),
        }
    )
    assert trace.usage == Usage(
        input_tokens=9, output_tokens=3, cached_tokens=4, reasoning_tokens=2
    )


def test_mlflow_spans_are_read():
    trace = to_trace(
        {
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": '{"question": "tide?"}',
            "mlflow.spanOutputs": '"six"',
        },
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": '{"model": "m", "messages": []}',
            "mlflow.chat.tokenUsage": '{"input_tokens": 3}',
        },
        {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": '{"city": "Oslo"}',
            "mlflow.spanOutputs": '"06:10"',
        },
        names="guide chat tide",
    )
    assert summarize(trace) == expected("mlflow", call_id=None)
    assert (trace.models, trace.usage) == (("m",), Usage(input_tokens=3))


def test_any_agent_spans_are_read():
    trace = to_trace(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "any_agent.final_output": "six",
        },
        {
            "gen_ai.operation.name": "call_llm",
            "gen_ai.input.messages": '[{"role": "user", "content": "tide?"}]',
            "genai.output": '[{"name": "tide", "arguments": "{\\"city\\": \\"Oslo\\"}"}]',
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "tide",
            "gen_ai.tool.args": '{"city": "Oslo"}',
            "genai.output": '"06:10"',
        },
    )
    assert summarize(trace) == expected("any-agent", call_id=None)


def test_agentops_spans_with_nested_attributes_are_read():
    trace = to_trace(
        {
            "agentops": {"span": {"kind": "workflow"}},
            "crewai": {"crew": {"result": "six", "tasks": [{"description": "tide?"}]}},
        },
        {
            "agentops": {"span": {"kind": "agent"}, "entity": {"input": "a goal"}},
            "agent": {"role": "guide"},
        },
        {
            "agentops": {"span": {"kind": "llm"}},
            "gen_ai": {
                "completion": [{"role": "assistant", "content": "six"}],
                "usage": {"prompt_tokens": "3"},
            },
        },
        {
            "agentops": {"span": {"kind": "tool"}},
            "tool": {"name": "tide", "parameters": '{"city": "Oslo"}', "result": "06:10"},
        },
    )
    assert summarize(trace) == expected("agentops", call_id=None)
    assert trace.usage == Usage(input_tokens=3)


def test_older_vercel_spans_are_read():
    trace = to_trace(
        {
            "ai.operationId": "ai.generateText",
            "ai.telemetry.functionId": "guide",
            "ai.prompt": '{"prompt": "tide?"}',
            "ai.result.text": "six",
        },
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.result.toolCalls": json.dumps(
                [{"toolCallId": "c1", "toolName": "tide", "args": {"city": "Oslo"}}]
            ),
            "ai.usage.promptTokens": 3,
        },
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "tide",
            "ai.toolCall.id": "c1",
            "ai.toolCall.result": '"06:10"',
        },
    )
    assert summarize(trace) == expected("vercel")
    assert trace.usage == Usage(input_tokens=3)


def test_pydantic_ai_without_a_scope_preserves_its_structured_result():
    trace = to_trace(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "logfire.msg": "guide run",
            "final_result": '{"answer": "six", "sure": true}',
            "pydantic_ai.all_messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": "tide?"}]}]
            ),
        }
    )
    assert (trace.convention, trace.turns[0].user) == ("pydantic-ai", "tide?")
    assert trace.turns[0].response == '{"answer": "six", "sure": true}'


@pytest.mark.parametrize(
    "system", ["strands-agents", "microsoft.agent_framework", "autogen", "gcp.vertex.agent"]
)
def test_missing_scope_is_replaced_by_the_system(system: str):
    trace = to_trace(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "gen_ai.system": system,
        }
    )
    assert trace.convention in ("strands", "agent-framework", "autogen", "adk")


def test_agent_run_twice_by_a_workflow_is_one_turn():
    again: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "writer",
    }
    trace = to_trace({"workflow.id": "w"}, again, again, names="workflow.run executor executor")
    assert (trace.convention, len(trace.turns)) == ("agent-framework", 1)


def test_older_opentelemetry_usage_and_numeric_text_are_counted():
    trace = to_trace(
        {
            "gen_ai.request.model": "m",
            "gen_ai.usage.prompt_tokens": "3",
            "gen_ai.usage.completion_tokens": 2.0,
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "tide?",
            "gen_ai.completion.0.content": "six",
        }
    )
    assert trace.usage == Usage(input_tokens=3, output_tokens=2)
    assert (trace.turns[0].user, trace.turns[0].response) == ("tide?", "six")


def test_codex_records_turns_and_tools():
    trace = to_trace(
        {
            "model": "gpt-5-codex",
            "thread.id": "th-1",
            "codex.turn.token_usage.input_tokens": 9,
            "codex.turn.token_usage.output_tokens": 3,
            "codex.turn.token_usage.cached_input_tokens": 4,
        },
        {"tool_name": "exec_command", "call_id": "c1"},
        names="session_task.turn exec_command",
    )
    assert summarize(trace) == [
        "codex",
        [],
        None,
        None,
        [["c1", "exec_command", None]],
        [[None, False]],
    ]
    assert (trace.conversation, trace.models) == ("th-1", ("gpt-5-codex",))
    assert trace.usage == Usage(input_tokens=9, output_tokens=3, cached_tokens=4)


def test_langfuse_export_replaces_missing_events():
    kind = {"langfuse.observation.type": "agent"}
    messages = json.dumps([{"role": "user", "content": '[{"text": "tide?"}]'}])
    result = json.dumps([{"message": '[{"text": "06:10"}]', "id": "c1"}])
    trace = to_trace(
        {
            **kind,
            "gen_ai.system": "strands-agents",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "langfuse.observation.input": messages,
            "langfuse.observation.output": json.dumps([{"message": "six", "finish_reason": "end"}]),
        },
        {
            **kind,
            "gen_ai.system": "strands-agents",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "tide",
            "gen_ai.tool.call.id": "c1",
            "langfuse.observation.input": '{"city": "Oslo"}',
            "langfuse.observation.output": result,
        },
    )
    assert summarize(trace) == expected("strands")


def test_adk_run_without_attributes_is_an_agent_in_langfuse():
    kind: dict[str, Json] = {"langfuse.observation.type": "span"}
    spans = [
        Span(trace_id="t", span_id="1", name="agent_run [guide]", attributes=kind),
        Span(
            trace_id="t",
            span_id="2",
            parent_id="1",
            name="call_llm",
            attributes=kind
            | {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.session_id": "s-1"},
        ),
    ]
    (trace,) = to_traces(spans)
    assert (trace.turns[0].agents, trace.conversation) == (("guide",), "s-1")


def test_tools_of_pydantic_ai_need_no_operation():
    spans = [
        Span(trace_id="t", span_id="1", name="agent run", start=1, end=9, scope="pydantic-ai"),
        Span(
            trace_id="t",
            span_id="2",
            parent_id="1",
            name="execute_tool tide",
            start=2,
            end=3,
            status="error",
            scope="pydantic-ai",
            attributes={"gen_ai.tool.name": "tide", "gen_ai.tool.call.arguments": "{}"},
        ),
    ]
    (trace,) = to_traces(spans)
    assert [(r.name, r.error is not None) for r in trace.turns[0].tool_results] == [("tide", True)]


def test_any_agent_reads_the_messages_of_each_framework():
    call: Json = {
        "id": "c1",
        "type": "function",
        "function": {"name": "tide", "arguments": '{"city": "Oslo"}'},
    }
    more: Json = {"tool_calls": [call]}
    llama: Json = {
        "role": "assistant",
        "additional_kwargs": more,
        "blocks": [{"block_type": "text", "text": ""}],
    }
    langchain: Json = {
        "type": "ChatGeneration",
        "message": {"content": "", "additional_kwargs": more, "type": "ai"},
    }
    for messages in (llama, langchain):
        trace = to_trace(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "any_agent",
                "any_agent.final_output": "six",
            },
            {
                "gen_ai.operation.name": "call_llm",
                "gen_ai.request.model": "m",
                "genai.output": json.dumps(messages),
            },
        )
        assert summarize(trace) == [
            "any-agent",
            ["any_agent"],
            None,
            "six",
            [["c1", "tide", {"city": "Oslo"}]],
            [],
        ]


def test_vercels_first_versions_are_identified_by_scope_and_name():
    span = Span(
        trace_id="t1",
        span_id="s1",
        name="ai.generateText.doGenerate",
        scope="ai",
        attributes={"operation.name": "ai.generateText.doGenerate", "ai.model.id": "gpt-4o"},
    )
    detected = builtin_detector().identify(span)
    assert detected is not None
    assert (detected[1].name, detected[2]) == ("vercel", "model")
