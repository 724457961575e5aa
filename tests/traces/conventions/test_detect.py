"""Each convention by its own marks, in spans as small as they can be."""

from __future__ import annotations

import json

import msgspec
import pytest

from carob.schema import Json, Span, Trace, Usage
from carob.traces.mapping.detect import builtin_detector
from carob.traces.mapping.traces import to_traces


def trace(root: dict[str, Json], *children: dict[str, Json], names: str = "") -> Trace:
    shown = names.split()
    spans = [
        Span(
            trace_id="t1",
            span_id=str(number),
            parent_id="0" if number else None,
            name=shown[number] if number < len(shown) else "",
            start=number,
            end=10 - number,
            attributes=attributes,
        )
        for number, attributes in enumerate((root, *children))
    ]
    (found,) = to_traces(spans)
    return found


def story(found: Trace) -> Json:
    turn = found.turns[0]
    calls: list[Json] = [[c.id, c.name, c.args] for c in turn.tool_calls or ()]
    results: list[Json] = [[r.result, r.error is not None] for r in turn.tool_results]
    return [found.convention, list(turn.agents), turn.user, turn.response, calls, results]


def shown(convention: str, agent: str | None = "guide", call_id: str | None = "c1") -> Json:
    agents: list[Json] = [agent] if agent else []
    calls: Json = [[call_id, "tide", {"city": "Oslo"}]]
    return [convention, agents, "tide?", "six", calls, [["06:10", False]]]


def test_openai_agents_native():
    call: Json = {
        "type": "function_call",
        "call_id": "c1",
        "name": "tide",
        "arguments": '{"city": "Oslo"}',
    }
    found = trace(
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
    assert story(found) == shown("openai-agents")
    assert (found.conversation, found.usage) == ("s-1", Usage(input_tokens=3, reasoning_tokens=1))


def test_langsmith_runs():
    human: Json = {
        "lc": 1,
        "type": "constructor",
        "id": ["HumanMessage"],
        "kwargs": {"content": "tide?"},
    }
    made: Json = {
        "kwargs": {"content": "six", "usage_metadata": {"input_tokens": 3}},
        "type": "constructor",
        "id": ["AIMessage"],
    }
    found = trace(
        {
            "langsmith.run_type": "chain",
            "langsmith.inputs": {"messages": [{"role": "user", "content": "tide?"}]},
            "langsmith.outputs": {"messages": [{"type": "ai", "content": "six"}]},
            "langsmith.extra": {"metadata": {"thread_id": "s-1"}},
        },
        {
            "langsmith.run_type": "llm",
            "langsmith.inputs": {"messages": [[human]]},
            "langsmith.outputs": {"generations": [[{"text": "six", "message": made}]]},
            "langsmith.extra": {"metadata": {"ls_model_name": "m"}},
        },
        {
            "langsmith.run_type": "tool",
            "langsmith.inputs": {"input": "{'city': 'Oslo'}"},
            "langsmith.outputs": {"output": {"content": "06:10", "tool_call_id": "c1"}},
        },
        names="guide ChatOpenAI tide",
    )
    assert story(found) == shown("langsmith")
    assert (found.conversation, found.models, found.usage.input_tokens) == ("s-1", ("m",), 3)


def test_the_result_of_a_failed_run_of_langsmith_comes_from_the_next_prompt():
    call: Json = {"name": "tide", "args": {"city": "Oslo"}, "id": "c1"}
    ai: Json = {"role": "assistant", "content": "", "tool_calls": [call]}
    shown: Json = {"role": "tool", "content": "no such city", "tool_call_id": "c1"}
    asked: Json = {"role": "user", "content": "tide?"}
    spans = [
        Span(trace_id="t", span_id=str(at), parent_id="0" if at else None, start=at, end=9)
        for at in range(4)
    ]
    runs: list[tuple[str, Json, Json]] = [
        ("chain", {"messages": [asked]}, {"messages": [{"role": "assistant", "content": "none"}]}),
        ("llm", {"messages": [asked]}, {"messages": [ai]}),
        ("tool", {"city": "Oslo"}, {}),
        (
            "llm",
            {"messages": [asked, ai, shown]},
            {"messages": [{"role": "assistant", "content": "none"}]},
        ),
    ]
    made = [
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
    (found,) = to_traces(made)
    assert [(r.id, r.result) for r in found.turns[0].tool_results] == [("c1", "no such city")]


def test_langfuse_observations():
    found = trace(
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
    assert story(found) == shown("langfuse", call_id=None)
    assert (found.conversation, found.usage) == ("s-1", Usage(input_tokens=3, output_tokens=1))


def test_langfuse_counts_in_the_words_of_the_provider():
    counted = {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    found = trace(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.usage_details": json.dumps(counted),
        }
    )
    assert found.usage == Usage(
        input_tokens=9, output_tokens=3, cached_tokens=4, reasoning_tokens=2
    )


def test_mlflow_spans():
    found = trace(
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
    assert story(found) == shown("mlflow", call_id=None)
    assert (found.models, found.usage) == (("m",), Usage(input_tokens=3))


def test_any_agent():
    found = trace(
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
    assert story(found) == shown("any-agent", call_id=None)


def test_agentops_with_its_attributes_taken_apart():
    found = trace(
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
    assert story(found) == shown("agentops", call_id=None)
    assert found.usage == Usage(input_tokens=3)


def test_vercel_of_old():
    found = trace(
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
    assert story(found) == shown("vercel")
    assert found.usage == Usage(input_tokens=3)


def test_pydantic_ai_where_the_scope_is_lost_keeps_its_structured_result():
    found = trace(
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
    assert (found.convention, found.turns[0].user) == ("pydantic-ai", "tide?")
    assert found.turns[0].response == '{"answer": "six", "sure": true}'


@pytest.mark.parametrize(
    "system", ["strands-agents", "microsoft.agent_framework", "autogen", "gcp.vertex.agent"]
)
def test_a_lost_scope_is_made_up_for_by_the_system(system: str):
    found = trace(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "gen_ai.system": system,
        }
    )
    assert found.convention in ("strands", "agent-framework", "autogen", "adk")


def test_an_agent_that_a_workflow_runs_twice_is_one_turn():
    again: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "writer",
    }
    found = trace({"workflow.id": "w"}, again, again, names="workflow.run executor executor")
    assert (found.convention, len(found.turns)) == ("agent-framework", 1)


def test_the_usage_of_old_open_telemetry_and_text_numbers_are_counted():
    found = trace(
        {
            "gen_ai.request.model": "m",
            "gen_ai.usage.prompt_tokens": "3",
            "gen_ai.usage.completion_tokens": 2.0,
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "tide?",
            "gen_ai.completion.0.content": "six",
        }
    )
    assert found.usage == Usage(input_tokens=3, output_tokens=2)
    assert (found.turns[0].user, found.turns[0].response) == ("tide?", "six")


def test_codex_counts_its_turns_and_names_its_tools():
    found = trace(
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
    assert story(found) == [
        "codex",
        [],
        None,
        None,
        [["c1", "exec_command", None]],
        [[None, False]],
    ]
    assert (found.conversation, found.models) == ("th-1", ("gpt-5-codex",))
    assert found.usage == Usage(input_tokens=9, output_tokens=3, cached_tokens=4)


def test_an_export_of_langfuse_replaces_the_events_it_lacks():
    made = {"langfuse.observation.type": "agent"}
    asked = json.dumps([{"role": "user", "content": '[{"text": "tide?"}]'}])
    result = json.dumps([{"message": '[{"text": "06:10"}]', "id": "c1"}])
    found = trace(
        {
            **made,
            "gen_ai.system": "strands-agents",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "guide",
            "langfuse.observation.input": asked,
            "langfuse.observation.output": json.dumps([{"message": "six", "finish_reason": "end"}]),
        },
        {
            **made,
            "gen_ai.system": "strands-agents",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "tide",
            "gen_ai.tool.call.id": "c1",
            "langfuse.observation.input": '{"city": "Oslo"}',
            "langfuse.observation.output": result,
        },
    )
    assert story(found) == shown("strands")


def test_a_run_of_adk_without_attributes_is_an_agent_in_langfuse_too():
    made: dict[str, Json] = {"langfuse.observation.type": "span"}
    spans = [
        Span(trace_id="t", span_id="1", name="agent_run [guide]", attributes=made),
        Span(
            trace_id="t",
            span_id="2",
            parent_id="1",
            name="call_llm",
            attributes=made
            | {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.session_id": "s-1"},
        ),
    ]
    (found,) = to_traces(spans)
    assert (found.turns[0].agents, found.conversation) == (("guide",), "s-1")


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
    (found,) = to_traces(spans)
    assert [(r.name, r.error is not None) for r in found.turns[0].tool_results] == [("tide", True)]


def test_any_agent_kept_the_messages_of_each_framework_as_they_were():
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
    for kept in (llama, langchain):
        found = trace(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "any_agent",
                "any_agent.final_output": "six",
            },
            {
                "gen_ai.operation.name": "call_llm",
                "gen_ai.request.model": "m",
                "genai.output": json.dumps(kept),
            },
        )
        assert story(found) == [
            "any-agent",
            ["any_agent"],
            None,
            "six",
            [["c1", "tide", {"city": "Oslo"}]],
            [],
        ]


def test_vercels_first_versions_are_identified_by_scope_and_name():
    made = Span(
        trace_id="t1",
        span_id="s1",
        name="ai.generateText.doGenerate",
        scope="ai",
        attributes={"operation.name": "ai.generateText.doGenerate", "ai.model.id": "gpt-4o"},
    )
    found = builtin_detector().identify(made)
    assert found is not None
    assert (found[1].name, found[2]) == ("vercel", "model")
