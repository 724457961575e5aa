from __future__ import annotations

import json

import pytest

from carob.schema import Json, Span, Trace
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, kind: str, **more: Json) -> Span:
    held: dict[str, Json] = {
        f"langfuse.observation.{word.replace('__', '.')}": value for word, value in more.items()
    }
    held |= {"langfuse.observation.type": kind}
    return Span("t1", key, parent, key, start=start, end=start + 1, attributes=held)


def trace(*spans: Span) -> Trace:
    (found,) = to_traces(spans)
    return found


@pytest.mark.parametrize(
    "details",
    [
        {"input": 10, "output": 4, "total": 14, "input_cache_read": 6, "output_reasoning": 3},
        {"input": 4, "output": 1, "total": 14, "input_cache_read": 6, "output_reasoning": 3},
    ],
)
def test_details_that_were_taken_out_of_a_count_are_part_of_it(details: Json):
    usage = trace(span("a", None, 1, "generation", usage_details=json.dumps(details))).usage
    assert (usage.input_tokens, usage.output_tokens) == (10, 4)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (6, 3)


def test_a_chain_that_bears_the_name_of_langchains_agent_is_the_agent():
    graph = span("pilot", None, 1, "chain", metadata__lc_agent_name='"pilot"')
    assert trace(graph, span("tide", "pilot", 2, "tool")).turns[0].agents == ("pilot",)


def test_tools_that_are_listed_among_the_messages_are_no_results():
    listed: Json = {"role": "tool", "content": {"type": "function", "function": {"name": "tide"}}}
    called: Json = {"name": "tide", "args": {}, "id": "c1", "type": "tool_call"}
    asked: Json = {"role": "assistant", "content": "", "tool_calls": [called]}
    one = span("one", None, 1, "generation", output=json.dumps(asked))
    two = span("two", None, 3, "generation", input=json.dumps([listed]), output="six")
    assert trace(one, two).turns[0].tool_results == ()


def test_a_mere_span_may_be_a_tool_by_its_own_attributes():
    found = span("running tool", None, 1, "span")
    found.attributes["gen_ai.tool.name"] = "tide"
    assert [call.name for call in trace(found).turns[0].tool_calls or ()] == ["tide"]


def test_what_langfuse_took_out_of_the_attributes_is_read_under_any_convention():
    def stored(
        key: str, parent: str | None, start: int, shown: tuple[str, str], **more: Json
    ) -> Span:
        found = span(key, parent, start, "span", input=shown[0], output=shown[1])
        found.attributes.update({word.replace("__", "."): value for word, value in more.items()})
        return found

    asked = json.dumps([{"role": "user", "content": "tide?"}])
    called = json.dumps([{"toolCallId": "c1", "toolName": "tide", "input": {"city": "Oslo"}}])
    vercel = trace(
        stored("a", None, 1, (asked, "six"), ai__operationId="ai.generateText"),
        stored("b", "a", 2, (asked, called), ai__operationId="ai.generateText.doGenerate"),
    ).turns[0]
    assert (vercel.user, vercel.response) == ("tide?", "six")
    assert [(call.id, call.args) for call in vercel.tool_calls or ()] == [("c1", {"city": "Oslo"})]
    other = trace(
        stored("pilot.run", None, 1, (asked, "six"), openinference__span__kind="AGENT")
    ).turns[0]
    assert (other.user, other.response, other.agents) == ("tide?", "six", ("pilot",))
