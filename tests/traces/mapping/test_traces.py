"""Turns, tool calls, agents and usage, independent of the convention."""

from __future__ import annotations

import json

import msgspec
import pytest

from carob.schema import Json, Span, SpanEvent, Trace, Turn, Usage
from carob.traces.mapping.sessions import merge_sessions
from carob.traces.mapping.traces import to_traces


def span(key: str, parent: str | None, start: int, end: int, **attributes: Json) -> Span:
    return Span(
        trace_id="t1",
        span_id=key,
        parent_id=parent,
        name=key,
        start=start,
        end=end,
        attributes={name.replace("__", "."): value for name, value in attributes.items()},
    )


def agent(key: str, parent: str | None, start: int, end: int, **more: Json) -> Span:
    return span(
        key,
        parent,
        start,
        end,
        gen_ai__operation__name="invoke_agent",
        gen_ai__agent__name=key,
        **more,
    )


def chat(key: str, parent: str | None, start: int, content: Json = None, **more: Json) -> Span:
    if content is not None:
        more["gen_ai__output__messages"] = json.dumps([{"role": "assistant", "parts": content}])
    return span(key, parent, start, start + 1, gen_ai__operation__name="chat", **more)


def tool(key: str, parent: str | None, start: int, name: str, **more: Json) -> Span:
    return span(
        key,
        parent,
        start,
        start + 1,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name=name,
        **more,
    )


def text(content: str) -> Json:
    return [{"type": "text", "content": content}]


def calls(*requested: tuple[str | None, str, Json]) -> Json:
    return [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in requested]


def user_message(content: str) -> str:
    return json.dumps([{"role": "user", "parts": text(content)}])


def to_trace(*spans: Span) -> Trace:
    (trace,) = to_traces(spans)
    return trace


def test_model_call_recorded_by_three_libraries_is_counted_once():
    trace = to_trace(
        agent("guide", None, 0, 10),
        chat("outer", "guide", 1, text("hi"), gen_ai__usage__input_tokens=5),
        chat("middle", "outer", 2, gen_ai__usage__input_tokens=5, gen_ai__usage__output_tokens=2),
        chat(
            "inner",
            "middle",
            3,
            text("hi"),
            gen_ai__usage__input_tokens=5,
            gen_ai__request__model="m",
        ),
    )
    (call,) = trace.model_calls
    usage = Usage(input_tokens=5, output_tokens=2)
    assert (call.usage, call.model, call.agent) == (usage, "m", "guide")


def test_model_call_that_starts_before_its_parent_is_part_of_it():
    inner = chat("inner", "outer", 1, text("hi"), gen_ai__usage__input_tokens=5)
    outer = chat("outer", None, 2, text("hi"), gen_ai__usage__input_tokens=5)
    assert to_trace(inner, outer).usage == Usage(input_tokens=5)


def test_two_spans_of_one_response_are_one_call():
    first = chat(
        "one", None, 1, text("hi"), gen_ai__response__id="r", gen_ai__usage__input_tokens=5
    )
    second = chat(
        "two", None, 2, text("hi"), gen_ai__response__id="r", gen_ai__usage__input_tokens=5
    )
    later = chat(
        "later", None, 9, text("ho"), gen_ai__response__id="r", gen_ai__usage__input_tokens=1
    )
    assert to_trace(first, second, later).usage == Usage(input_tokens=6)


def test_outer_usage_is_used_if_the_leaf_has_none():
    outer = chat("outer", None, 1, text("hi"), gen_ai__usage__input_tokens=7)
    assert to_trace(outer, chat("inner", "outer", 2)).usage == Usage(input_tokens=7)


def test_tokens_that_only_the_agent_counts_are_added_to_its_last_call():
    alone = agent("guide", None, 0, 9, gen_ai__usage__input_tokens=880)
    assert to_trace(alone).usage == Usage(input_tokens=880)
    model = chat("m", "guide", 1, text("hi"), gen_ai__usage__input_tokens=560)
    (call,) = to_trace(alone, model).model_calls
    assert call.usage == Usage(input_tokens=880)


def test_spans_match_calls_by_id_then_arguments_then_order():
    trace = to_trace(
        agent("guide", None, 0, 20),
        chat(
            "m",
            "guide",
            1,
            calls(("a", "tide", {"d": 1}), (None, "tide", {"d": 2}), (None, "tide", {"d": 3})),
        ),
        tool(
            "s3",
            "guide",
            3,
            "tide",
            gen_ai__tool__call__arguments='{"d": 3}',
            gen_ai__tool__call__result="3",
        ),
        tool("s1", "guide", 4, "tide", gen_ai__tool__call__id="a", gen_ai__tool__call__result="1"),
        tool("s2", "guide", 5, "tide", gen_ai__tool__call__result="2"),
    )
    assert [r.result for r in trace.turns[0].tool_results] == ["1", "2", "3"]


def test_arguments_of_the_model_override_those_of_the_span():
    trace = to_trace(
        agent("guide", None, 0, 20),
        chat("m", "guide", 1, calls(("a", "tide", {"city": "Oslo"}))),
        tool("s", "guide", 3, "tide", gen_ai__tool__call__arguments="Oslo"),
    )
    assert [c.args for c in trace.turns[0].tool_calls or ()] == [{"city": "Oslo"}]


def test_tool_span_without_a_request_is_ordered_by_time():
    trace = to_trace(
        agent("guide", None, 0, 20),
        chat("m1", "guide", 1, calls(("a", "first", {}))),
        tool("s", "guide", 3, "second"),
        chat("m2", "guide", 5, calls(("c", "third", {}))),
    )
    assert [c.name for c in trace.turns[0].tool_calls or ()] == ["first", "second", "third"]


def test_nested_tool_of_the_same_name_is_the_same_call():
    trace = to_trace(
        agent("guide", None, 0, 9), tool("a", "guide", 1, "tide"), tool("b", "a", 1, "tide")
    )
    assert len(trace.turns[0].tool_calls or ()) == 1


def test_results_without_a_span_come_from_the_next_calls_input():
    history = [
        {"role": "user", "parts": text("tide?")},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "response": "06:10"}]},
    ]
    trace = to_trace(
        span("app", None, 0, 9),
        chat(
            "m1", "app", 1, calls(("a", "tide", {})), gen_ai__input__messages=user_message("tide?")
        ),
        chat("m2", "app", 3, text("06:10"), gen_ai__input__messages=json.dumps(history)),
    )
    turn = trace.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("tide?", "06:10", ())
    assert [(r.id, r.result, r.error) for r in turn.tool_results] == [("a", "06:10", None)]


def test_calls_of_a_sub_agent_have_its_name_and_its_text_is_not_the_response():
    trace = to_trace(
        agent("lead", None, 0, 20),
        chat("m1", "lead", 1, calls(("a", "ask_tides", {}))),
        tool("t1", "lead", 2, "ask_tides", gen_ai__tool__call__id="a"),
        agent("tides", "t1", 3, 8),
        chat("m2", "tides", 4, calls(("b", "tide", {}))),
        chat("m3", "tides", 6, text("at six")),
        chat("m4", "lead", 9, text("High tide is at six.")),
    )
    turn = trace.turns[0]
    assert [(c.name, c.agent) for c in turn.tool_calls or ()] == [
        ("ask_tides", "lead"),
        ("tide", "tides"),
    ]
    assert (turn.response, turn.agents) == ("High tide is at six.", ("lead", "tides", "lead"))
    assert [(m.agent, m.text) for m in turn.messages] == [("tides", "at six")]


def test_sub_agents_beside_the_coordinator_do_not_respond_for_it():
    trace = to_trace(
        span("run", None, 0, 20, traceloop__span__kind="workflow"),
        agent(
            "lead",
            "run",
            0,
            19,
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": text("six")}]),
        ),
        agent(
            "tides",
            "run",
            3,
            8,
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": text("sub")}]),
        ),
    )
    assert (len(trace.turns), trace.turns[0].response) == (1, "six")


def test_agent_that_takes_over_responds():
    trace = to_trace(
        agent("run", None, 0, 20),
        agent("triage", "run", 1, 5),
        chat("m1", "triage", 2, calls(("a", "transfer_to_tides", {}))),
        agent("tides", "run", 6, 19),
        chat("m2", "tides", 7, text("at six")),
    )
    assert (trace.turns[0].response, trace.turns[0].agents[1:]) == ("at six", ("triage", "tides"))


def test_calls_beside_their_agent_belong_to_the_running_agent():
    trace = to_trace(
        span("workflow.run", None, 0, 20, gen_ai__operation__name="invoke_workflow"),
        agent("tides", "workflow.run", 1, 9),
        chat("m", "workflow.run", 2, text("six")),
        tool("t", "workflow.run", 4, "tide"),
    )
    assert trace.model_calls[0].agent == "tides"
    assert [c.agent for c in trace.turns[0].tool_calls or ()] == ["tides"]


def test_new_message_to_the_same_agent_under_a_plain_span_starts_a_turn():
    again = agent("guide", "session", 11, 19, gen_ai__input__messages=user_message("and wind?"))
    trace = to_trace(
        span("session", None, 0, 50),
        agent("guide", "session", 1, 9, gen_ai__input__messages=user_message("tide?")),
        chat("m1", "guide", 2, text("six")),
        msgspec.structs.replace(again, span_id="g2"),
        chat("m2", "g2", 12, text("west")),
    )
    assert [(t.user, t.response) for t in trace.turns] == [("tide?", "six"), ("and wind?", "west")]


def test_without_agents_a_call_that_quotes_the_last_response_starts_a_turn():
    history = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("six")},
        {"role": "user", "parts": text("and wind?")},
    ]
    trace = to_trace(
        span("app", None, 0, 20),
        chat("m1", "app", 1, text("six"), gen_ai__input__messages=user_message("tide?")),
        chat("m2", "app", 5, text("west"), gen_ai__input__messages=json.dumps(history)),
    )
    assert [(t.user, t.response) for t in trace.turns] == [("tide?", "six"), ("and wind?", "west")]


@pytest.mark.parametrize("operation", ["create_agent", "embeddings", "agent_step", "unknown"])
def test_spans_without_a_turn_give_no_trace(operation: str):
    assert to_traces([span("x", None, 0, 1, gen_ai__operation__name=operation)]) == []


def test_merged_tool_is_not_a_call():
    assert to_traces([tool("execute_tool (merged)", None, 1, "(merged tools)")]) == []


def test_missing_values_are_none_and_empty_values_are_empty():
    silent = to_trace(
        agent("guide", None, 0, 9), chat("m", "guide", 1), tool("t", "guide", 2, "tide")
    ).turns[0]
    assert (silent.user, silent.response) == (None, None)
    assert [c.args for c in silent.tool_calls or ()] == [None]
    assert (
        to_trace(agent("guide", None, 0, 9), chat("m", "guide", 1, text(""))).turns[0].response
        == ""
    )


def test_tool_calls_are_unknown_if_nothing_records_them():
    guide = agent("guide", None, 0, 9)
    assert to_trace(span("app", None, 0, 9), chat("m", "app", 1)).turns[0].tool_calls is None
    assert to_trace(guide, chat("m", "guide", 1)).turns[0].tool_calls is None
    stopped = chat("m", "guide", 1, gen_ai__response__finish_reasons=["stop"])
    assert to_trace(guide, stopped).turns[0].tool_calls == ()
    requested = chat("m", "guide", 1, gen_ai__response__finish_reasons=["tool_calls"])
    assert to_trace(guide, requested).turns[0].tool_calls is None


def test_failed_tool_and_failed_turn_have_an_error():
    raised = SpanEvent(name="exception", attributes={"exception.message": "no such city"})
    failed = msgspec.structs.replace(
        tool("t", "guide", 2, "tide"), events=(raised,), status="error"
    )
    owner = msgspec.structs.replace(
        agent("guide", None, 0, 9), status="error", status_message="boom"
    )
    turn = to_trace(owner, failed).turns[0]
    assert (turn.error, [r.error for r in turn.tool_results]) == ("boom", ["no such city"])


def test_case_conversation_and_requested_spans_are_preserved():
    spans = [
        span("app", None, 0, 9, carob__case__id="tides-1"),
        agent("guide", "app", 1, 8, gen_ai__conversation__id="s-1"),
    ]
    (trace,) = to_traces(spans, source="a.jsonl", keep_spans=True)
    assert (trace.case, trace.conversation, trace.source) == ("tides-1", "s-1", "a.jsonl")
    assert trace.spans == tuple(spans)
    assert to_traces(spans)[0].spans == ()


def test_evaluation_spans_are_not_part_of_the_turn():
    judge = span("judge", "guide", 3, 5, openinference__span__kind="EVALUATOR")
    trace = to_trace(
        agent("guide", None, 0, 9),
        judge,
        chat("m", "judge", 4, text("good"), gen_ai__usage__input_tokens=3),
    )
    assert trace.model_calls == ()


def test_spans_with_a_missing_parent_stay_together():
    trace = to_trace(
        chat("m1", "gone", 1, calls(("a", "tide", {}))), chat("m2", "gone", 4, text("six"))
    )
    assert [(t.response, len(t.tool_calls or ())) for t in trace.turns] == [("six", 1)]


def results(*contents: tuple[str | None, str]) -> str:
    parts = [
        {"type": "tool_call_response", "id": i, "response": content} for i, content in contents
    ]
    messages = json.loads(user_message("tides?"))
    return json.dumps([*messages, {"role": "tool", "parts": parts}])


@pytest.mark.parametrize("ids", [("call_1", "call_2"), (None, None)])
def test_results_without_a_call_id_are_matched_by_order(ids: tuple[str | None, str | None]):
    first = chat("first", None, 1, calls(("fc_1", "tide", {"city": "Oslo"}), ("fc_2", "sum", {})))
    messages = results((ids[0], "six"), (ids[1], "555"))
    last = chat("last", None, 3, text("done"), gen_ai__input__messages=messages)
    tool_results = to_trace(first, last).turns[0].tool_results
    assert [(r.name, r.result) for r in tool_results] == [("tide", "six"), ("sum", "555")]


def test_call_never_gets_the_result_of_another():
    first = chat("first", None, 1, calls(("c1", "tide", {"city": "Oslo"}), ("c2", "tide", {})))
    ran = tool("ran", None, 2, "tide", gen_ai__tool__call__id="c1", gen_ai__tool__call__result="6")
    last = chat("last", None, 4, text("done"), gen_ai__input__messages=results(("c1", "6")))
    tool_results = to_trace(first, ran, last).turns[0].tool_results
    assert [(r.id, r.result) for r in tool_results] == [("c1", "6")]


def test_turn_without_times_starts_with_its_first_child():
    owner = msgspec.structs.replace(agent("guide", None, 0, 9), start=None, end=None)
    turn = to_trace(owner, chat("model", "guide", 3, text("hi"))).turns[0]
    assert (turn.start, turn.end) == (3, 4)


def test_response_id_may_be_only_in_the_output():
    first = chat("one", None, 1, gen_ai__response__id="msg_1", gen_ai__usage__input_tokens=5)
    second = span(
        "two",
        None,
        2,
        3,
        openinference__span__kind="LLM",
        output__value='{"id": "msg_1", "content": [{"type": "text", "text": "hi"}]}',
        llm__token_count__prompt=5,
    )
    trace = to_trace(first, second)
    assert (trace.usage, trace.turns[0].response) == (Usage(input_tokens=5), "hi")


@pytest.mark.parametrize("content", [[{"type": "text"}], []])
def test_response_without_content_is_unknown(content: Json):
    turn = to_trace(agent("guide", None, 0, 9), chat("model", "guide", 1, content)).turns[0]
    assert turn.response == (None if content else "")


def test_fields_of_an_inner_span_complete_a_call():
    inner = tool("inner", "outer", 3, "weather", gen_ai__tool__call__id="c1", error__type="Timeout")
    outer = tool("outer", "a", 2, "weather", gen_ai__tool__call__result="no weather")
    (turn,) = to_traces([agent("a", None, 1, 9), outer, inner])[0].turns
    assert [(result.id, result.result, result.error) for result in turn.tool_results] == [
        ("c1", "no weather", "Timeout")
    ]


def test_result_that_is_a_printed_object_is_taken_from_the_message():
    requested = calls(("c1", "expert", {}))
    messages = [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "6"}]}
    ]
    trace = to_trace(
        agent("a", None, 0, 9),
        chat("one", "a", 1, requested),
        tool("run", "a", 3, "expert", gen_ai__tool__call__result="[<af.Content object at 0x7f>]"),
        chat("two", "a", 5, text("at six"), gen_ai__input__messages=json.dumps(messages)),
    )
    assert [result.result for result in trace.turns[0].tool_results] == ["6"]


def test_runs_in_a_workflow_that_continue_from_the_last_response_are_turns():
    before: list[Json] = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    trace = to_trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        agent("a", "w", 1, 9),
        chat("one", "a", 2, text("at six"), gen_ai__input__messages=json.dumps(before[:1])),
        msgspec.structs.replace(agent("b", "w", 11, 19), name="a"),
        chat("two", "b", 12, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [(turn.user, turn.response, turn.end) for turn in trace.turns] == [
        ("tide?", "at six", 9),
        ("and low?", "at noon", 19),
    ]


def test_model_calls_in_a_workflow_that_continue_from_the_last_response_are_turns():
    before = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    trace = to_trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        chat("one", "w", 2, text("at six"), gen_ai__input__messages=user_message("tide?")),
        chat("two", "w", 12, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("tide?", "at six"),
        ("and low?", "at noon"),
    ]


def test_steps_of_a_workflow_that_pass_the_answer_on_are_one_turn():
    trace = to_trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        agent("a", "w", 1, 9),
        chat("one", "a", 2, text("a draft"), gen_ai__input__messages=user_message("write")),
        agent("b", "w", 11, 19),
        chat("two", "b", 12, text("a text"), gen_ai__input__messages=user_message("a draft")),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [("write", "a text")]


def test_spans_without_content_do_not_hide_a_turn():
    before = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    trace = to_trace(
        span("session", None, 0, 99),
        chat("one", "session", 1, text("at six"), gen_ai__input__messages=user_message("tide?")),
        chat("bare one", "session", 2),
        chat("two", "session", 5, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [turn.user for turn in trace.turns] == ["tide?", "and low?"]


def test_agent_does_not_receive_the_results_of_another():
    messages = [{"role": "tool", "parts": [{"type": "tool_call_response", "response": "logs"}]}]
    trace = to_trace(
        agent("a", None, 0, 9),
        agent("b", "a", 1, 4),
        chat("one", "b", 2, calls((None, "final_answer", {}))),
        chat("two", "a", 5, text("six"), gen_ai__input__messages=json.dumps(messages)),
    )
    assert trace.turns[0].tool_results == ()


def test_response_of_another_agent_does_not_replace_a_missing_one():
    messages = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": calls(("c1", "expert", {}))},
    ]
    trace = to_trace(
        agent("a", None, 0, 9),
        chat("one", "a", 1, gen_ai__input__messages=user_message("tide?")),
        tool("run", "a", 2, "expert"),
        agent("b", None, 3, 5),
        chat("two", "b", 4, text("at six")),
        chat("three", "a", 7, gen_ai__input__messages=json.dumps(messages)),
    )
    assert trace.turns[0].response is None
    assert [(call.name, call.id) for call in trace.turns[0].tool_calls or ()] == [("expert", "c1")]


def test_requested_call_is_not_a_response():
    output = json.dumps([{"role": "assistant", "parts": calls(("c1", "find", {}))}])
    turn = to_traces([agent("shop", None, 1, 9, gen_ai__output__messages=output)])[0].turns[0]
    assert turn.response is None
    assert [call.name for call in turn.tool_calls or ()] == ["find"]


def trace(key: str, conversation: str | None, start: int, case: str | None = None) -> Trace:
    turn = Turn(user=key, start=start, end=start + 1)
    return Trace(id=key, conversation=conversation, turns=(turn,), case=case)


def test_traces_of_a_conversation_become_one_in_order_of_time():
    sessions = list(
        merge_sessions([trace("b", "s-1", 20), trace("x", None, 15), trace("a", "s-1", 10)])
    )
    assert [(session.id, [turn.user for turn in session.turns]) for session in sessions] == [
        ("s-1", ["a", "b"]),
        ("x", ["x"]),
    ]


def test_case_comes_from_any_trace_of_the_session():
    (session,) = merge_sessions([trace("a", "s-1", 10), trace("b", "s-1", 20, case="tides-1")])
    assert session.case == "tides-1"


def test_trace_id_equal_to_a_conversation_is_not_merged():
    assert len(list(merge_sessions([trace("s-1", None, 1), trace("a", "s-1", 2)]))) == 2


def test_agents_that_only_their_model_calls_name_are_agents():
    """A router, and a model call within another one that works for somebody else."""
    router = span("r", None, 1, 9, gen_ai__operation__name="agent", gen_ai__agent__name="Router")
    writer = span(
        "w",
        "r",
        2,
        6,
        gen_ai__operation__name="chat",
        gen_ai__agent__name="Writer",
        gen_ai__usage__input_tokens=5,
        gen_ai__usage__output_tokens=1,
    )
    critic = span(
        "c",
        "w",
        3,
        4,
        gen_ai__operation__name="chat",
        gen_ai__agent__name="Critic",
        gen_ai__usage__input_tokens=7,
        gen_ai__usage__output_tokens=1,
    )
    trace = to_trace(router, writer, critic)
    assert trace.turns[0].agents == ("Router", "Writer", "Critic")
    assert trace.usage.input_tokens == 12


def test_messages_make_a_model_call_without_an_operation():
    trace = to_trace(
        span(
            "a",
            None,
            1,
            2,
            gen_ai__request__model="m",
            gen_ai__input__messages=user_message("Hi"),
            gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": text("Hello")}]),
        )
    )
    assert (trace.turns[0].user, trace.turns[0].response) == ("Hi", "Hello")


def test_calls_before_the_first_recorded_model_call_belong_to_the_turn():
    history: list[Json] = [
        {"role": "user", "parts": text("Which bikes?")},
        {"role": "assistant", "parts": calls(("c1", "list_bikes", {"kind": "city"}))},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "12"}]},
    ]
    last = chat("b", None, 5, text("Twelve."), gen_ai__input__messages=json.dumps(history))
    (turn,) = to_trace(last).turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("list_bikes", {"kind": "city"})
    ]
    assert [result.result for result in turn.tool_results] == ["12"]


def test_control_flow_of_a_graph_is_not_an_error():
    waiting = msgspec.structs.replace(
        agent("desk", None, 1, 9),
        status="error",
        status_message="GraphInterrupt((Interrupt(...),))",
    )
    (turn,) = to_trace(waiting, chat("a", "desk", 2, calls(("c1", "rent", {})))).turns
    assert turn.error is None


def test_answer_that_a_step_around_the_model_did_not_return_is_not_the_response():
    front = span(
        "graph",
        None,
        0,
        9,
        openinference__span__kind="CHAIN",
        input__value=json.dumps({"request": {"query": "Plan a trip"}}),
        output__value=json.dumps({"plan": {"days": 3}}),
    )
    router = chat("router", "graph", 1, text('{"next": "planner"}'))
    (trace,) = to_traces((front, router))
    assert (trace.turns[0].user, trace.turns[0].response) == ("Plan a trip", None)
    assert "response" in trace.gaps


def test_answer_within_what_the_outermost_step_returned_is_the_response():
    returned = json.dumps({"plan": {"days": 3, "text": "Three days in Rome."}})
    front = span(
        "graph",
        None,
        0,
        9,
        openinference__span__kind="CHAIN",
        input__value=json.dumps({"request": {"query": "Plan a trip"}}),
        output__value=returned,
    )
    (trace,) = to_traces((front, chat("writer", "graph", 1, text("Three days in Rome."))))
    assert trace.turns[0].response == "Three days in Rome."


def test_printed_object_that_cannot_be_parsed_is_neither_an_answer_nor_no_call():
    call = chat("m", None, 1, text("ChatResult(value=<object at 0x1>, calls="))
    (trace,) = to_traces((call,))
    assert (trace.turns[0].response, trace.turns[0].tool_calls) == (None, None)


def test_requests_that_one_span_records_as_events_are_counted_one_by_one():
    events = tuple(
        SpanEvent(
            name="gen_ai.client.inference.operation.details",
            attributes={"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 1},
        )
        for tokens in (10, 20)
    )
    last = chat("m", None, 1, text("Done."), gen_ai__usage__input_tokens=20)
    (trace,) = to_traces((msgspec.structs.replace(last, events=events),))
    assert [call.usage.input_tokens for call in trace.model_calls] == [10, 20]


def test_total_is_unknown_if_a_call_was_not_counted():
    first = chat("a", "pilot", 1, text("Wait."), gen_ai__usage__input_tokens=5)
    last = chat("b", "pilot", 3, text("Done."))
    (trace,) = to_traces((agent("pilot", None, 0, 9), first, last))
    assert trace.usage == Usage()
    assert "usage" in trace.gaps


def test_messages_without_an_operation_or_a_model_are_those_of_a_model():
    call = span(
        "call",
        None,
        1,
        2,
        gen_ai__input__messages=json.dumps([{"role": "user", "parts": text("Hi")}]),
        gen_ai__output__messages=json.dumps([{"role": "assistant", "parts": text("Hello")}]),
    )
    (trace,) = to_traces((call,))
    assert (trace.turns[0].user, trace.turns[0].response) == ("Hi", "Hello")


def test_scrubbed_conversation_is_no_conversation():
    scrubbed = {"gen_ai__conversation__id": "[Scrubbed due to 'session']"}
    assert to_traces([agent("a", None, 0, 9, **scrubbed)])[0].conversation is None
    inner = chat("c", "a", 1, gen_ai__conversation__id="thread_7")
    assert to_traces([agent("a", None, 0, 9, **scrubbed), inner])[0].conversation == "thread_7"


def test_agents_at_once_that_count_each_others_tokens_do_not_raise_the_total():
    (trace,) = to_traces(
        [
            agent("lead", None, 0, 90, **count_tokens(300, 3)),
            chat("m0", "lead", 1, text("x"), **count_tokens(50)),
            tool("ask1", "lead", 10, "ask", gen_ai__tool__call__id="c1"),
            tool("ask2", "lead", 10, "ask", gen_ai__tool__call__id="c2"),
            agent("w1", "ask1", 11, 40, **count_tokens(250, 2)),
            agent("w2", "ask2", 12, 41, **count_tokens(250, 2)),
            chat("m1", "w1", 13, text("a"), **count_tokens(125)),
            chat("m2", "w2", 14, text("b"), **count_tokens(125)),
        ]
    )
    assert Usage.total(call.usage for call in trace.model_calls).input_tokens == 300


def count_tokens(inputs: int, outputs: int = 1) -> dict[str, Json]:
    return {"gen_ai__usage__input_tokens": inputs, "gen_ai__usage__output_tokens": outputs}


def test_attempt_that_failed_requested_no_tool():
    failed = msgspec.structs.replace(chat("a", "run", 1), status="error")
    answer = chat("b", "run", 3, text("Yes."))
    (trace,) = to_traces([agent("run", None, 0, 9), failed, answer])
    assert trace.turns[0].tool_calls == ()


def test_run_that_failed_has_no_empty_response():
    asked = chat("a", "run", 1, [{"type": "tool_call", "name": "f", "id": "c1", "arguments": {}}])
    failed = msgspec.structs.replace(
        chat("b", "run", 4, text("")), status="error", status_message="quota exceeded"
    )
    (trace,) = to_traces([agent("run", None, 0, 9), asked, failed])
    assert (trace.turns[0].response, trace.turns[0].error) == (None, "quota exceeded")


def test_call_of_a_tool_that_does_not_exist_ends_the_run_with_the_error_of_the_step():
    def step(key: str, parent: str | None, kind: str, **more: Json) -> Span:
        return span(key, parent, 1, 8, openinference__span__kind=kind, **more)

    calls = "llm__output_messages__0__message__tool_calls__0__tool_call__function__"
    model = step("llm", "step", "LLM", **{f"{calls}name": "f", f"{calls}arguments": "{}"})
    failed = msgspec.structs.replace(
        step("step", "run", "CHAIN"), status="error", status_message="Tool not found"
    )
    run = step("run", None, "AGENT", graph__node__id="guide")
    (trace,) = to_traces([run, failed, model])
    assert trace.turns[0].error == "Tool not found"


def test_calls_that_lost_tokens_to_a_limit_make_the_usage_unclear():
    whole = chat("a", "run", 1, text("x"), **count_tokens(5), gen_ai__usage__reasoning_tokens=2)
    cut = chat("b", "run", 3, text("y"), **count_tokens(6), otel__dropped_attributes_count=3)
    (trace,) = to_traces([agent("run", None, 0, 9), whole, cut])
    assert "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in trace.gaps["usage"]


def chain(key: str, parent: str | None, start: int, **more: Json) -> Span:
    kind: dict[str, Json] = {"openinference__span__kind": "CHAIN", **more}
    return span(key, parent, start, start + 9, **kind)


def test_step_without_a_parent_is_a_run_if_nothing_else_was_recorded():
    said: dict[str, Json] = {"input__value": "Where?", "output__value": "Here."}
    (trace,) = to_traces([chain("rag", None, 1, **said), chain("search", "rag", 2)])
    (turn,) = trace.turns
    assert (turn.user, turn.response, turn.tool_calls) == ("Where?", "Here.", None)
    assert not to_traces([chain("rag", None, 1, input__value="Where?")])
    assert not to_traces([chain("rag", "lost", 1, **said), chain("search", "lost", 2, **said)])
