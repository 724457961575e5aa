"""Wrong types everywhere: a trace or nothing, never an exception."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carob.schema import Json, Span, SpanEvent, Trace
from carob.traces.containers.detect import read_items
from carob.traces.mapping import tool_spans
from carob.traces.mapping.traces import to_traces
from carob.traces.messages.read import read_last_message, read_messages
from carob.traces.reading.assemble import assemble
from carob.traces.reading.json_values import read_values

CAPTURES = Path(__file__).parent / "captures"
BAIT = (
    "",
    "[",
    "{",
    "[{",
    '"',
    "N/A",
    "[[[[]]]]",
    '{"messages": [1, null, {"role": 5}]}',
    '[{"role": "user", "parts": [{"type": "text", "content": 3}, null, "x"]}]',
    '[{"role": "assistant", "tool_calls": [{"function": {"name": 1}}, 7]}]',
    '{"generations": [[{"message": {"kwargs": []}}]]}',
    '{"lc": 1, "type": "constructor", "id": [null], "kwargs": {"content": [[]]}}',
    '{"content": {"parts": [{"function_call": 1}, {"function_response": {}}]}}',
    "{'city': ",
    "content='x' tool_call_id='y'",
    "ResponseFunctionToolCall(arguments=)",
    "\ud800",
)
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
WORDS: tuple[str, ...] = (
    "role",
    "parts",
    "content",
    "type",
    "messages",
    "kwargs",
    "args",
    "id",
    "name",
    "function",
    "tool_calls",
    "arguments",
    "text",
    "data",
    "message",
    "generations",
    "update",
    "output",
    "update",
    "toolUse",
    "toolResult",
    "functionCall",
    "function_response",
    "status",
    "json",
    "input_str",
    "calling",
    "tool_string",
    "inputs",
    "raw",
    "user",
    "assistant",
    "tool",
    "ai",
    "constructor",
    "tool_call",
    "tool_result",
    "reasoning",
)


def as_json(table: dict[str, Json]) -> Json:
    return table


def nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    keys: st.SearchStrategy[str] = st.sampled_from(WORDS)
    lists: st.SearchStrategy[Json] = st.lists(inner, max_size=3)
    tables = st.dictionaries(keys, inner, max_size=4)
    return lists | tables.map(as_json)


bait: st.SearchStrategy[Json] = st.sampled_from([*BAIT, *WORDS])
numbers: st.SearchStrategy[Json] = st.none() | st.booleans() | st.integers() | st.floats()
junk: st.SearchStrategy[Json] = st.recursive(bait | numbers, nested, max_leaves=10)


def spans() -> Iterator[tuple[Span, ...]]:
    for path in sorted(CAPTURES.iterdir()):
        records = read_items(read_values(path, report=lambda problem: None), source=path.name)
        loose = (record for record in records if not isinstance(record, Trace))
        yield from assemble(loose, source="", report=lambda problem: None).values()


RECORDED = tuple(spans())


def spoiled(span: Span, data: st.DataObject) -> Span:
    attributes = dict(span.attributes)
    for key in data.draw(st.lists(st.sampled_from(sorted(attributes) or [""]), max_size=6)):
        attributes[key] = data.draw(junk)
    events = tuple(spoiled_event(event, data) for event in span.events)
    return msgspec.structs.replace(span, attributes=attributes, events=events)


def spoiled_event(event: SpanEvent, data: st.DataObject) -> SpanEvent:
    attributes: dict[str, Json] = {key: data.draw(junk) for key in event.attributes}
    body: Json = data.draw(junk) if event.body is not None else None
    return msgspec.structs.replace(event, attributes=attributes, body=body)


@settings(max_examples=300, deadline=None)
@given(junk)
def test_any_value_is_read_as_messages_arguments_or_a_result(value: Json):
    for texts in (
        *read_messages(value, "user"),
        *read_last_message(value, "assistant", "assistant"),
    ):
        assert texts.text is None or isinstance(texts.text, str)
    tool_spans.unwrap_arguments(value)
    assert isinstance(tool_spans.unwrap_output(value), tool_spans.ToolOutput)


@settings(max_examples=120, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_damaged_attributes_give_a_trace_or_nothing(data: st.DataObject):
    recorded = data.draw(st.sampled_from(RECORDED))
    traces = to_traces([spoiled(span, data) for span in recorded])
    assert len(traces) <= 1
    assert all(isinstance(trace, Trace) for trace in traces)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_missing_spans_give_a_trace_or_nothing(data: st.DataObject):
    recorded = data.draw(st.sampled_from(RECORDED))
    remaining = data.draw(st.lists(st.sampled_from(recorded), unique_by=lambda span: span.span_id))
    assert len(to_traces(remaining)) <= 1


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_order_of_spans_does_not_change_the_turns(number: int):
    recorded = RECORDED[number]
    backwards = sorted(recorded, key=lambda span: span.start or 0)
    assert to_traces(backwards)[0].turns == to_traces(recorded)[0].turns


def test_cyclic_parents_are_read():
    recorded = RECORDED[0]
    first, second = recorded[0], recorded[1]
    circle = [
        msgspec.structs.replace(first, parent_id=second.span_id),
        msgspec.structs.replace(second, parent_id=first.span_id),
    ]
    assert len(to_traces(circle)) <= 1


def test_ten_thousand_levels_of_agents_are_read():
    deep = [
        Span(
            trace_id="t",
            span_id=str(level),
            parent_id=str(level - 1) if level else None,
            name=f"invoke_agent a{level}",
            start=level,
            end=20_000 - level,
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": f"a{level}"},
        )
        for level in range(10_000)
    ]
    assert len(to_traces(deep)[0].turns[0].agents) == 10_000


def agent_with_open_call(number: int) -> list[Span]:
    """An agent with one model call that requests a tool without a result."""
    call: dict[str, Json] = {
        "type": "tool_call",
        "name": "look",
        "id": f"c{number}",
        "arguments": {},
    }
    texts = json.dumps([{"role": "assistant", "parts": [call]}])
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "go"}]}])
    chat: dict[str, Json] = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": texts}
    agent: dict[str, Json] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    name, start = f"s{number}", 10 * number + 1
    return [
        Span("t", name, "root", "invoke_agent a", start=start, attributes=agent),
        Span(
            "t",
            f"{name}m",
            name,
            "chat",
            start=start + 1,
            attributes={**chat, "gen_ai.input.messages": messages},
        ),
    ]


def test_calls_without_results_are_not_compared_with_every_agent():
    root = Span("t", "root", None, "invoke_workflow w", start=0, end=10**9)
    spans = [root, *(span for number in range(20_000) for span in agent_with_open_call(number))]
    started = time.process_time()
    (trace,) = to_traces(spans)
    assert sum(len(turn.tool_calls or ()) for turn in trace.turns) == 20_000
    assert time.process_time() - started < 20


def test_empty_values_have_no_content():
    assert to_traces([]) == []


def test_chain_of_agents_longer_than_the_stack_is_freed():
    last = 200_000
    chain = [
        Span(
            trace_id="t",
            span_id=f"{number}",
            parent_id=f"{number - 1}" if number else None,
            name="execute_tool x" if number == last else f"invoke_agent {number}",
            start=number + 1,
            end=last + 2,
            attributes={
                "gen_ai.operation.name": "execute_tool" if number == last else "invoke_agent"
            },
        )
        for number in range(last + 1)
    ]
    assert len(to_traces(chain)) == len(to_traces(chain[::-1])) == 1
