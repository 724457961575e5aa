from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span, Trace
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, kind: str, **more: Json) -> Span:
    attributes: dict[str, Json] = {
        f"langfuse.observation.{word.replace('__', '.')}": value for word, value in more.items()
    }
    attributes |= {"langfuse.observation.type": kind}
    return Span("t1", key, parent, key, start=start, end=start + 1, attributes=attributes)


def to_trace(*spans: Span) -> Trace:
    (trace,) = to_traces(spans)
    return trace


@pytest.mark.parametrize(
    "details",
    [
        {"input": 10, "output": 4, "total": 14, "input_cache_read": 6, "output_reasoning": 3},
        {"input": 4, "output": 1, "total": 14, "input_cache_read": 6, "output_reasoning": 3},
    ],
)
def test_usage_details_are_added_to_the_total(details: Json):
    usage = to_trace(span("a", None, 1, "generation", usage_details=json.dumps(details))).usage
    assert (usage.input_tokens, usage.output_tokens) == (10, 4)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (6, 3)


def test_chain_named_like_the_langchain_agent_is_the_agent():
    graph = span("pilot", None, 1, "chain", metadata__lc_agent_name='"pilot"')
    assert to_trace(graph, span("tide", "pilot", 2, "tool")).turns[0].agents == ("pilot",)


def test_hook_of_langchains_middleware_is_a_step_and_not_an_agent():
    graph = span("pilot", None, 1, "chain", metadata__lc_agent_name='"pilot"')
    name = "Limits.before_agent"
    hook = span(name, "pilot", 2, "agent", metadata__langgraph_node=name)
    tide = span("tide", "pilot", 3, "tool")
    assert to_trace(graph, hook, tide).turns[0].agents == ("pilot",)


def test_tool_definitions_among_the_messages_are_not_results():
    listed: Json = {"role": "tool", "content": {"type": "function", "function": {"name": "tide"}}}
    call: Json = {"name": "tide", "args": {}, "id": "c1", "type": "tool_call"}
    answer: Json = {"role": "assistant", "content": "", "tool_calls": [call]}
    first = span("one", None, 1, "generation", output=json.dumps(answer))
    two = span("two", None, 3, "generation", input=json.dumps([listed]), output="six")
    assert to_trace(first, two).turns[0].tool_results == ()


def test_plain_span_may_be_a_tool_by_its_attributes():
    tool_span = span("running tool", None, 1, "span")
    tool_span.attributes["gen_ai.tool.name"] = "tide"
    assert [call.name for call in to_trace(tool_span).turns[0].tool_calls or ()] == ["tide"]


def test_content_extracted_by_langfuse_is_read_under_any_convention():
    def stored(
        key: str, parent: str | None, start: int, content: tuple[str, str], **more: Json
    ) -> Span:
        original = span(key, parent, start, "span", input=content[0], output=content[1])
        original.attributes.update({word.replace("__", "."): value for word, value in more.items()})
        return original

    messages = json.dumps([{"role": "user", "content": "tide?"}])
    calls = json.dumps([{"toolCallId": "c1", "toolName": "tide", "input": {"city": "Oslo"}}])
    vercel = to_trace(
        stored("a", None, 1, (messages, "six"), ai__operationId="ai.generateText"),
        stored("b", "a", 2, (messages, calls), ai__operationId="ai.generateText.doGenerate"),
    ).turns[0]
    assert (vercel.user, vercel.response) == ("tide?", "six")
    assert [(call.id, call.args) for call in vercel.tool_calls or ()] == [("c1", {"city": "Oslo"})]
    openinference_turn = to_trace(
        stored("pilot.run", None, 1, (messages, "six"), openinference__span__kind="AGENT")
    ).turns[0]
    assert (openinference_turn.user, openinference_turn.response, openinference_turn.agents) == (
        "tide?",
        "six",
        ("pilot",),
    )


def test_input_of_the_trace_is_the_users_text_and_not_the_prompt():
    prompt = span("llm", None, 1, "generation", input="system: Be kind.\nuser: Say hi", output="Hi")
    prompt.attributes["langfuse.trace.input"] = "Say hi"
    (turn,) = to_trace(prompt).turns
    assert (turn.user, turn.response) == ("Say hi", "Hi")


def test_input_of_an_observed_function_is_its_only_argument():
    function = span("main", None, 1, "span", input=json.dumps({"args": ["Say hi"], "kwargs": {}}))
    answer = span("llm", "main", 2, "generation", input="Prompt: Say hi", output="Hi")
    assert [turn.user for turn in to_trace(function, answer).turns] == ["Say hi"]


def test_plain_span_that_returns_a_tool_message_is_a_tool():
    path: Json = ["langchain_core", "messages", "ToolMessage"]
    fields: Json = {"content": "high", "tool_call_id": "c1"}
    message: Json = {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}
    tool = span("tide", None, 1, "span", input='{"at": "noon"}', output=json.dumps(message))
    (turn,) = to_trace(tool).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("tide", {"at": "noon"})]
    assert [(item.id, item.result) for item in turn.tool_results] == [("c1", "high")]


def test_events_of_a_tool_are_one_call():
    phases = ("start", "success", "finish")
    events = [
        span(
            f"tool.custom.tide.{phase}", None, number, "tool", input='{"at": "noon"}', output="high"
        )
        for number, phase in enumerate(phases, 1)
    ]
    (turn,) = to_trace(*events).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("tide", {"at": "noon"})]


def test_level_of_a_tool_is_its_failure():
    tool = span("tide", None, 1, "tool", output="no data", level="ERROR")
    assert [result.error for result in to_trace(tool).turns[0].tool_results] == ["no data"]
