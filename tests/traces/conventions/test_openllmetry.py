from __future__ import annotations

import json

from carob.schema import Json, Span, Trace, Usage
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


def test_crew_with_only_a_provider_has_tasks_and_result():
    crew = span(
        "crewai.workflow",
        None,
        1,
        {
            "gen_ai.provider.name": "crewai",
            "gen_ai.operation.name": "invoke_agent",
            "crewai.crew.tasks": json.dumps([{"description": "Write about tides."}]),
            "crewai.crew.result": "Tides.",
            "crewai.crew.usage_metrics": "{'prompt_tokens': 9, 'completion_tokens': 3}",
        },
    )
    writer = span(
        "writer.agent",
        "crewai.workflow",
        2,
        {
            "traceloop.span.kind": "agent",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "writer",
            "gen_ai.request.model": "m",
        },
    )
    trace = to_trace(crew, writer)
    turn = trace.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("Write about tides.", "Tides.", ("writer",))
    assert (trace.usage, trace.models) == (Usage(input_tokens=9, output_tokens=3), ("m",))
    assert turn.tool_calls is None


def test_llama_index_runs_tools_as_tasks():
    recorded = {
        "tool_name": "tide",
        "raw_output": "six",
        "blocks": [{"text": "six"}],
        "is_error": False,
    }
    root = span("guide.workflow", None, 1, {"traceloop.span.kind": "workflow"})
    ran = span(
        "BaseWorkflowAgent.task",
        "guide.workflow",
        2,
        {
            "traceloop.span.kind": "task",
            "traceloop.entity.name": "BaseWorkflowAgent.task",
            "tool.name": "tide",
            "tool.arguments": '{"city": "Oslo"}',
            "traceloop.entity.output": json.dumps({"tool_id": "c1", "tool_output": recorded}),
        },
    )
    turn = to_trace(root, ran).turns[0]
    assert [(c.id, c.name, c.args) for c in turn.tool_calls or ()] == [
        ("c1", "tide", {"city": "Oslo"})
    ]
    assert [r.result for r in turn.tool_results] == ["six"]


def test_tool_messages_of_unknown_role_are_results():
    model_span = span(
        "ask.chat",
        None,
        1,
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "When?",
            "gen_ai.completion.0.role": "unknown",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "tide",
            "gen_ai.completion.0.tool_calls.0.arguments": "{}",
        },
    )
    recorded = span(
        "tell.chat",
        None,
        3,
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "When?",
            "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.content": "",
            "gen_ai.prompt.2.role": "unknown",
            "gen_ai.prompt.2.content": "six",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "At six.",
        },
    )
    turn = to_trace(model_span, recorded).turns[0]
    assert (turn.user, turn.response) == ("When?", "At six.")
    assert [(r.id, r.result) for r in turn.tool_results] == [("c1", "six")]


def test_first_and_last_step_of_llama_index_replace_missing_model_calls():
    def message(role: str, text: str) -> Json:
        return {"role": role, "blocks": [{"block_type": "text", "text": text}]}

    def step(key: str, start: int, recorded: Json) -> Span:
        attributes: dict[str, Json] = {
            "traceloop.span.kind": "task",
            "traceloop.entity.output": json.dumps(recorded),
        }
        return span(key, "run", start, attributes)

    handed: Json = {"input": [message("user", "tide?")], "current_agent_name": "pilot"}
    answer: Json = {"result": {"response": message("assistant", "at six")}}
    run = span("run", None, 1, {"traceloop.span.kind": "workflow"})
    turn = to_trace(run, step("one", 2, handed), step("two", 3, handed), step("three", 4, answer))
    assert (turn.turns[0].user, turn.turns[0].response) == ("tide?", "at six")


def test_task_named_like_the_langchain_agent_is_the_agent():
    recorded = "traceloop.association.properties.lc_agent_name"
    task: dict[str, Json] = {
        "gen_ai.operation.name": "execute_task",
        "traceloop.span.kind": "task",
        "traceloop.entity.name": "pilot",
        recorded: "pilot",
    }
    ran: dict[str, Json] = {"traceloop.span.kind": "tool", "traceloop.entity.name": "tide"}
    trace = to_trace(span("a", None, 1, task), span("b", "a", 2, ran | {recorded: "pilot"}))
    assert [call.agent for call in trace.turns[0].tool_calls or ()] == ["pilot"]


def test_litellm_completions_are_model_calls():
    attributes: dict[str, Json] = {
        "llm.request.type": "completion",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "tide?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.function_call.name": "tide",
        "gen_ai.completion.0.function_call.arguments": '{"city": "Oslo"}',
        "gen_ai.completion.1.function_call.name": "sun",
        "gen_ai.completion.1.function_call.arguments": "{}",
    }
    turn = to_trace(span("litellm_request", None, 1, attributes)).turns[0]
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("tide", {"city": "Oslo"}),
        ("sun", {}),
    ]
    assert turn.response is None
