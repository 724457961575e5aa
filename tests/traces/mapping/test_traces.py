"""The engine: turns, tool calls, agents and tokens, whatever the convention."""

from __future__ import annotations

import json

import msgspec
import pytest

from carob.schema import Json, Span, SpanEvent, Trace, Usage
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


def calls(*asked: tuple[str | None, str, Json]) -> Json:
    return [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in asked]


def asks(content: str) -> str:
    return json.dumps([{"role": "user", "parts": text(content)}])


def trace(*spans: Span) -> Trace:
    (found,) = to_traces(spans)
    return found


def test_a_model_call_that_three_libraries_recorded_is_counted_once():
    found = trace(
        agent("guide", None, 0, 10),
        chat("outer", "guide", 1, text("hi"), gen_ai__usage__input_tokens=99),
        chat("middle", "outer", 2, gen_ai__usage__input_tokens=7, gen_ai__usage__output_tokens=2),
        chat(
            "inner",
            "middle",
            3,
            text("hi"),
            gen_ai__usage__input_tokens=5,
            gen_ai__request__model="m",
        ),
    )
    (call,) = found.model_calls
    assert (call.usage, call.model, call.agent) == (Usage(input_tokens=5), "m", "guide")


def test_a_model_call_that_seems_to_start_before_the_one_around_it_is_part_of_it():
    inner = chat("inner", "outer", 1, text("hi"), gen_ai__usage__input_tokens=5)
    outer = chat("outer", None, 2, text("hi"), gen_ai__usage__input_tokens=7)
    assert trace(inner, outer).usage == Usage(input_tokens=5)


def test_two_recorders_of_one_response_record_one_call():
    one = chat("one", None, 1, text("hi"), gen_ai__response__id="r", gen_ai__usage__input_tokens=5)
    two = chat("two", None, 2, text("hi"), gen_ai__response__id="r", gen_ai__usage__input_tokens=5)
    later = chat(
        "later", None, 9, text("ho"), gen_ai__response__id="r", gen_ai__usage__input_tokens=1
    )
    assert trace(one, two, later).usage == Usage(input_tokens=6)


def test_an_outer_count_stands_in_where_the_leaf_has_none():
    outer = chat("outer", None, 1, text("hi"), gen_ai__usage__input_tokens=7)
    assert trace(outer, chat("inner", "outer", 2)).usage == Usage(input_tokens=7)


def test_an_agents_count_is_used_only_without_any_model_call():
    alone = agent("guide", None, 0, 9, gen_ai__usage__input_tokens=880)
    assert trace(alone).usage == Usage(input_tokens=880)
    model = chat("m", "guide", 1, text("hi"), gen_ai__usage__input_tokens=560)
    assert trace(alone, model).usage == Usage(input_tokens=560)


def test_spans_join_calls_by_id_then_arguments_then_order():
    found = trace(
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
    assert [r.result for r in found.turns[0].tool_results] == ["1", "2", "3"]


def test_the_models_own_arguments_win_over_the_spans():
    found = trace(
        agent("guide", None, 0, 20),
        chat("m", "guide", 1, calls(("a", "tide", {"city": "Oslo"}))),
        tool("s", "guide", 3, "tide", gen_ai__tool__call__arguments="Oslo"),
    )
    assert [c.args for c in found.turns[0].tool_calls or ()] == [{"city": "Oslo"}]


def test_a_tool_that_no_model_was_seen_asking_for_takes_its_place_by_time():
    found = trace(
        agent("guide", None, 0, 20),
        chat("m1", "guide", 1, calls(("a", "first", {}))),
        tool("s", "guide", 3, "second"),
        chat("m2", "guide", 5, calls(("c", "third", {}))),
    )
    assert [c.name for c in found.turns[0].tool_calls or ()] == ["first", "second", "third"]


def test_a_tool_within_a_tool_of_its_name_is_the_same_call():
    found = trace(
        agent("guide", None, 0, 9), tool("a", "guide", 1, "tide"), tool("b", "a", 1, "tide")
    )
    assert len(found.turns[0].tool_calls or ()) == 1


def test_results_without_a_span_come_from_the_next_calls_input():
    history = [
        {"role": "user", "parts": text("tide?")},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "response": "06:10"}]},
    ]
    found = trace(
        span("app", None, 0, 9),
        chat("m1", "app", 1, calls(("a", "tide", {})), gen_ai__input__messages=asks("tide?")),
        chat("m2", "app", 3, text("06:10"), gen_ai__input__messages=json.dumps(history)),
    )
    turn = found.turns[0]
    assert (turn.user, turn.response, turn.agents) == ("tide?", "06:10", ())
    assert [(r.id, r.result, r.error) for r in turn.tool_results] == [("a", "06:10", None)]


def test_calls_of_a_sub_agent_carry_its_name_and_its_text_is_not_the_response():
    found = trace(
        agent("lead", None, 0, 20),
        chat("m1", "lead", 1, calls(("a", "ask_tides", {}))),
        tool("t1", "lead", 2, "ask_tides", gen_ai__tool__call__id="a"),
        agent("tides", "t1", 3, 8),
        chat("m2", "tides", 4, calls(("b", "tide", {}))),
        chat("m3", "tides", 6, text("at six")),
        chat("m4", "lead", 9, text("High tide is at six.")),
    )
    turn = found.turns[0]
    assert [(c.name, c.agent) for c in turn.tool_calls or ()] == [
        ("ask_tides", "lead"),
        ("tide", "tides"),
    ]
    assert (turn.response, turn.agents) == ("High tide is at six.", ("lead", "tides", "lead"))
    assert [(m.agent, m.text) for m in turn.messages] == [("tides", "at six")]


def test_sub_agents_beside_the_coordinator_do_not_answer_for_it():
    found = trace(
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
    assert (len(found.turns), found.turns[0].response) == (1, "six")


def test_an_agent_that_takes_over_answers():
    found = trace(
        agent("run", None, 0, 20),
        agent("triage", "run", 1, 5),
        chat("m1", "triage", 2, calls(("a", "transfer_to_tides", {}))),
        agent("tides", "run", 6, 19),
        chat("m2", "tides", 7, text("at six")),
    )
    assert (found.turns[0].response, found.turns[0].agents[1:]) == ("at six", ("triage", "tides"))


def test_calls_beside_their_agent_belong_to_the_one_that_runs_meanwhile():
    found = trace(
        span("workflow.run", None, 0, 20, gen_ai__operation__name="invoke_workflow"),
        agent("tides", "workflow.run", 1, 9),
        chat("m", "workflow.run", 2, text("six")),
        tool("t", "workflow.run", 4, "tide"),
    )
    assert found.model_calls[0].agent == "tides"
    assert [c.agent for c in found.turns[0].tool_calls or ()] == ["tides"]


def test_a_new_message_to_the_same_agent_under_a_plain_span_begins_a_turn():
    again = agent("guide", "session", 11, 19, gen_ai__input__messages=asks("and wind?"))
    found = trace(
        span("session", None, 0, 50),
        agent("guide", "session", 1, 9, gen_ai__input__messages=asks("tide?")),
        chat("m1", "guide", 2, text("six")),
        msgspec.structs.replace(again, span_id="g2"),
        chat("m2", "g2", 12, text("west")),
    )
    assert [(t.user, t.response) for t in found.turns] == [("tide?", "six"), ("and wind?", "west")]


def test_without_agents_a_call_that_quotes_the_last_answer_begins_a_turn():
    history = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("six")},
        {"role": "user", "parts": text("and wind?")},
    ]
    found = trace(
        span("app", None, 0, 20),
        chat("m1", "app", 1, text("six"), gen_ai__input__messages=asks("tide?")),
        chat("m2", "app", 5, text("west"), gen_ai__input__messages=json.dumps(history)),
    )
    assert [(t.user, t.response) for t in found.turns] == [("tide?", "six"), ("and wind?", "west")]


@pytest.mark.parametrize("operation", ["create_agent", "embeddings", "agent_step", "unknown"])
def test_spans_without_a_turn_give_no_trace(operation: str):
    assert to_traces([span("x", None, 0, 1, gen_ai__operation__name=operation)]) == []


def test_a_merged_tool_is_not_a_call():
    assert to_traces([tool("execute_tool (merged)", None, 1, "(merged tools)")]) == []


def test_what_is_not_recorded_is_none_and_what_is_empty_is_empty():
    silent = trace(
        agent("guide", None, 0, 9), chat("m", "guide", 1), tool("t", "guide", 2, "tide")
    ).turns[0]
    assert (silent.user, silent.response) == (None, None)
    assert [c.args for c in silent.tool_calls or ()] == [None]
    assert (
        trace(agent("guide", None, 0, 9), chat("m", "guide", 1, text(""))).turns[0].response == ""
    )


def test_tool_calls_are_unknown_if_nothing_records_them():
    assert trace(span("app", None, 0, 9), chat("m", "app", 1)).turns[0].tool_calls is None
    assert trace(agent("guide", None, 0, 9), chat("m", "guide", 1)).turns[0].tool_calls == ()


def test_a_failed_tool_and_a_failed_turn_say_why():
    raised = SpanEvent(name="exception", attributes={"exception.message": "no such city"})
    failed = msgspec.structs.replace(
        tool("t", "guide", 2, "tide"), events=(raised,), status="error"
    )
    owner = msgspec.structs.replace(
        agent("guide", None, 0, 9), status="error", status_message="boom"
    )
    turn = trace(owner, failed).turns[0]
    assert (turn.error, [r.error for r in turn.tool_results]) == ("boom", ["no such city"])


def test_the_case_the_conversation_and_the_spans_are_kept_on_request():
    spans = [
        span("app", None, 0, 9, carob__case__id="tides-1"),
        agent("guide", "app", 1, 8, gen_ai__conversation__id="s-1"),
    ]
    (found,) = to_traces(spans, source="a.jsonl", keep_spans=True)
    assert (found.case, found.conversation, found.source) == ("tides-1", "s-1", "a.jsonl")
    assert found.spans == tuple(spans)
    assert to_traces(spans)[0].spans == ()


def test_an_evaluation_within_the_trace_is_not_the_agents_work():
    judge = span("judge", "guide", 3, 5, openinference__span__kind="EVALUATOR")
    found = trace(
        agent("guide", None, 0, 9),
        judge,
        chat("m", "judge", 4, text("good"), gen_ai__usage__input_tokens=3),
    )
    assert found.model_calls == ()


def test_spans_that_lost_their_parent_stay_together():
    found = trace(
        chat("m1", "gone", 1, calls(("a", "tide", {}))), chat("m2", "gone", 4, text("six"))
    )
    assert [(t.response, len(t.tool_calls or ())) for t in found.turns] == [("six", 1)]


def results(*shown: tuple[str | None, str]) -> str:
    parts = [{"type": "tool_call_response", "id": i, "response": content} for i, content in shown]
    asked = json.loads(asks("tides?"))
    return json.dumps([*asked, {"role": "tool", "parts": parts}])


@pytest.mark.parametrize("ids", [("call_1", "call_2"), (None, None)])
def test_results_that_name_no_call_come_by_order(ids: tuple[str | None, str | None]):
    first = chat("first", None, 1, calls(("fc_1", "tide", {"city": "Oslo"}), ("fc_2", "sum", {})))
    shown = results((ids[0], "six"), (ids[1], "555"))
    last = chat("last", None, 3, text("done"), gen_ai__input__messages=shown)
    found = trace(first, last).turns[0].tool_results
    assert [(r.name, r.result) for r in found] == [("tide", "six"), ("sum", "555")]


def test_no_call_is_given_the_result_of_another():
    first = chat("first", None, 1, calls(("c1", "tide", {"city": "Oslo"}), ("c2", "tide", {})))
    ran = tool("ran", None, 2, "tide", gen_ai__tool__call__id="c1", gen_ai__tool__call__result="6")
    last = chat("last", None, 4, text("done"), gen_ai__input__messages=results(("c1", "6")))
    found = trace(first, ran, last).turns[0].tool_results
    assert [(r.id, r.result) for r in found] == [("c1", "6")]


def test_a_turn_whose_owner_has_no_times_begins_with_its_first_part():
    owner = msgspec.structs.replace(agent("guide", None, 0, 9), start=None, end=None)
    turn = trace(owner, chat("model", "guide", 3, text("hi"))).turns[0]
    assert (turn.start, turn.end) == (3, 4)


def test_a_response_may_name_itself_only_in_its_output():
    one = chat("one", None, 1, gen_ai__response__id="msg_1", gen_ai__usage__input_tokens=5)
    two = span(
        "two",
        None,
        2,
        3,
        openinference__span__kind="LLM",
        output__value='{"id": "msg_1", "content": [{"type": "text", "text": "hi"}]}',
        llm__token_count__prompt=5,
    )
    found = trace(one, two)
    assert (found.usage, found.turns[0].response) == (Usage(input_tokens=5), "hi")


@pytest.mark.parametrize("content", [[{"type": "text"}], []])
def test_an_answer_without_its_content_is_unknown(content: Json):
    turn = trace(agent("guide", None, 0, 9), chat("model", "guide", 1, content)).turns[0]
    assert turn.response == (None if content else "")


def test_fields_of_an_inner_recorder_complete_a_call():
    inner = tool("inner", "outer", 3, "weather", gen_ai__tool__call__id="c1", error__type="Timeout")
    outer = tool("outer", "a", 2, "weather", gen_ai__tool__call__result="no weather")
    (made,) = to_traces([agent("a", None, 1, 9), outer, inner])[0].turns
    assert [(result.id, result.result, result.error) for result in made.tool_results] == [
        ("c1", "no weather", "Timeout")
    ]


def test_a_result_that_is_a_printed_object_is_taken_from_the_message():
    asked = calls(("c1", "expert", {}))
    shown = [
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "6"}]}
    ]
    found = trace(
        agent("a", None, 0, 9),
        chat("one", "a", 1, asked),
        tool("run", "a", 3, "expert", gen_ai__tool__call__result="[<af.Content object at 0x7f>]"),
        chat("two", "a", 5, text("at six"), gen_ai__input__messages=json.dumps(shown)),
    )
    assert [result.result for result in found.turns[0].tool_results] == ["6"]


def test_runs_within_one_workflow_that_continue_from_the_last_answer_are_turns():
    before: list[Json] = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    found = trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        agent("a", "w", 1, 9),
        chat("one", "a", 2, text("at six"), gen_ai__input__messages=json.dumps(before[:1])),
        msgspec.structs.replace(agent("b", "w", 11, 19), name="a"),
        chat("two", "b", 12, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [(turn.user, turn.response, turn.end) for turn in found.turns] == [
        ("tide?", "at six", 9),
        ("and low?", "at noon", 19),
    ]


def test_model_calls_of_a_workflow_without_agents_that_go_on_from_the_last_answer_are_turns():
    before = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    found = trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        chat("one", "w", 2, text("at six"), gen_ai__input__messages=asks("tide?")),
        chat("two", "w", 12, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [(turn.user, turn.response) for turn in found.turns] == [
        ("tide?", "at six"),
        ("and low?", "at noon"),
    ]


def test_steps_of_one_workflow_that_pass_the_answer_on_are_one_turn():
    found = trace(
        span("w", None, 0, 99, gen_ai__operation__name="invoke_workflow"),
        agent("a", "w", 1, 9),
        chat("one", "a", 2, text("a draft"), gen_ai__input__messages=asks("write")),
        agent("b", "w", 11, 19),
        chat("two", "b", 12, text("a text"), gen_ai__input__messages=asks("a draft")),
    )
    assert [(turn.user, turn.response) for turn in found.turns] == [("write", "a text")]


def test_a_recorder_without_content_beside_another_hides_no_turn():
    before = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": text("at six")},
        {"role": "user", "parts": text("and low?")},
    ]
    found = trace(
        span("session", None, 0, 99),
        chat("one", "session", 1, text("at six"), gen_ai__input__messages=asks("tide?")),
        chat("bare one", "session", 2),
        chat("two", "session", 5, text("at noon"), gen_ai__input__messages=json.dumps(before)),
    )
    assert [turn.user for turn in found.turns] == ["tide?", "and low?"]


def test_an_agent_does_not_receive_the_results_of_another():
    shown = [{"role": "tool", "parts": [{"type": "tool_call_response", "response": "logs"}]}]
    found = trace(
        agent("a", None, 0, 9),
        agent("b", "a", 1, 4),
        chat("one", "b", 2, calls((None, "final_answer", {}))),
        chat("two", "a", 5, text("six"), gen_ai__input__messages=json.dumps(shown)),
    )
    assert found.turns[0].tool_results == ()


def test_the_answer_of_another_agent_does_not_replace_one_that_is_not_recorded():
    shown = [
        {"role": "user", "parts": text("tide?")},
        {"role": "assistant", "parts": calls(("c1", "expert", {}))},
    ]
    found = trace(
        agent("a", None, 0, 9),
        chat("one", "a", 1, gen_ai__input__messages=asks("tide?")),
        tool("run", "a", 2, "expert"),
        agent("b", None, 3, 5),
        chat("two", "b", 4, text("at six")),
        chat("three", "a", 7, gen_ai__input__messages=json.dumps(shown)),
    )
    assert found.turns[0].response is None
    assert [(call.name, call.id) for call in found.turns[0].tool_calls or ()] == [("expert", "c1")]


def test_a_requested_call_is_not_a_response():
    asked = json.dumps([{"role": "assistant", "parts": calls(("c1", "find", {}))}])
    found = to_traces([agent("shop", None, 1, 9, gen_ai__output__messages=asked)])[0].turns[0]
    assert found.response is None
    assert [call.name for call in found.tool_calls or ()] == ["find"]
