"""Turns of one trace: several questions are never glued, and steps of one run stay together."""

from __future__ import annotations

import json

import msgspec

from carob.schema import Json, Span
from carob.traces.mapping.traces import to_traces


def message(role: str, text: str) -> Json:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def chat(key: str, start: int, asked: str, answer: str, *, history: tuple[Json, ...] = ()) -> Span:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([*history, message("user", asked)]),
        "gen_ai.output.messages": json.dumps([message("assistant", answer)]),
    }
    return Span("t1", key, "root", "chat", "client", start, start + 1, attributes)


def turns(*spans: Span) -> list[tuple[str | None, str | None]]:
    root = Span("t1", "root", None, "request", "server", 0, 100)
    (trace,) = to_traces((root, *spans))
    return [(turn.user, turn.response) for turn in trace.turns]


def test_unrelated_questions_are_turns_of_their_own():
    bikes = chat("a", 1, "Which bikes are in stock?", "Twelve city bikes.")
    helmets = chat("b", 5, "Do you sell helmets?", "Yes, in three sizes.")
    assert turns(bikes, helmets) == [
        ("Which bikes are in stock?", "Twelve city bikes."),
        ("Do you sell helmets?", "Yes, in three sizes."),
    ]


def test_call_that_quotes_what_was_said_is_a_step_of_the_same_run():
    answer = chat("a", 1, "Which bikes are in stock?", "Twelve city bikes.")
    title = chat("b", 5, "Write a title for: Which bikes are in stock?", "Bikes in stock")
    summary = chat("c", 9, "Shorten this: Twelve city bikes.", "12 bikes")
    assert len(turns(answer, title)) == 1
    assert len(turns(answer, summary)) == 1


def test_short_texts_are_quoted_only_if_they_are_equal():
    first = chat("a", 1, "Is it open?", "Yes")
    second = chat("b", 5, "Yesterday it was closed, why?", "It was Sunday.")
    assert len(turns(first, second)) == 2


def test_call_that_repeats_the_history_begins_a_turn_after_an_answer():
    first = chat("a", 1, "Is it open?", "Yes")
    history = (message("user", "Is it open?"), message("assistant", "Yes"))
    second = chat("b", 5, "Until when?", "Until six.", history=history)
    assert turns(first, second) == [("Is it open?", "Yes"), ("Until when?", "Until six.")]


CALL: Json = {"type": "tool_call", "id": "c1", "name": "ask_stock", "arguments": {"q": "Bikes"}}
RESULT: Json = {"type": "tool_call_response", "id": "c1", "response": "Twelve."}


def ask_stock(key: str, start: int, *received: Json, returned: Json) -> Span:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([message("user", "Any city bikes left?"), *received]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [returned]}]),
    }
    return Span("t1", key, "root", "chat", "client", start, start + 1, attributes)


def test_calls_of_an_unrecorded_agent_within_a_tool_are_not_turns():
    requested = ask_stock("a", 1, returned=CALL)
    inner = chat("b", 3, "Count the stock.", "Twelve.")
    history: list[Json] = [
        {"role": "assistant", "parts": [CALL]},
        {"role": "tool", "parts": [RESULT]},
    ]
    answered = ask_stock("c", 5, *history, returned={"type": "text", "content": "Yes, twelve."})
    assert turns(requested, inner, answered) == [("Any city bikes left?", "Yes, twelve.")]


def test_questions_after_calls_without_results_are_turns():
    requested = ask_stock("a", 1, returned=CALL)
    assert len(turns(requested, chat("b", 3, "Do you sell helmets?", "Yes."))) == 2


def owner(operation: str) -> Span:
    attributes: dict[str, Json] = {"gen_ai.operation.name": operation, "gen_ai.agent.name": "shop"}
    return Span("t1", "root", None, operation, "internal", 0, 100, attributes)


BIKES = chat("a", 1, "Which bikes are in stock?", "Twelve city bikes.")
HELMETS = chat("b", 5, "Do you sell helmets?", "Yes, in three sizes.")


def test_unrelated_questions_within_a_workflow_without_content_are_turns():
    (trace,) = to_traces((owner("invoke_workflow"), BIKES, HELMETS))
    assert [turn.response for turn in trace.turns] == ["Twelve city bikes.", "Yes, in three sizes."]


def test_unrelated_questions_within_an_agent_are_a_known_gap():
    (trace,) = to_traces((owner("invoke_agent"), BIKES, HELMETS))
    assert {"user", "response"} <= trace.gaps.keys()


def test_steps_of_an_agent_that_repeat_the_question_are_no_gap():
    again = chat("b", 5, "Which bikes are in stock?", "Twelve city bikes, all blue.")
    (trace,) = to_traces((owner("invoke_agent"), BIKES, again))
    assert not trace.gaps


def run(key: str, start: int, end: int, asked: str, parent: str = "root") -> Span:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "stock",
        "gen_ai.input.messages": json.dumps([message("user", asked)]),
        "gen_ai.output.messages": json.dumps([message("assistant", f"{asked} Yes.")]),
    }
    return Span("t1", key, parent, "invoke_agent", "internal", start, end, attributes)


def test_runs_of_one_agent_at_once_are_a_turn_each():
    first, second = run("a", 1, 9, "Any bikes?"), run("b", 2, 8, "Any bikes?")
    inner = Span(
        "t1",
        "c",
        "b",
        "execute_tool",
        "internal",
        3,
        4,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up"},
    )
    root = Span("t1", "root", None, "evaluate", "internal", 0, 100)
    (trace,) = to_traces((root, first, second, inner))
    assert [turn.response for turn in trace.turns] == ["Any bikes? Yes."] * 2
    assert [len(turn.tool_calls or ()) for turn in trace.turns] == [0, 1]


def test_agents_of_a_team_at_once_are_one_turn():
    first = run("a", 1, 9, "Any bikes?")
    other = {**first.attributes, "gen_ai.agent.name": "prices"}
    second = Span("t1", "b", "root", "invoke_agent", "internal", 2, 8, other)
    assert len(turns(first, second)) == 1


def test_requests_at_once_with_unrelated_questions_are_a_turn_each():
    def request(key: str, start: int, end: int) -> Span:
        return Span("t1", key, "root", "request", "internal", start, end)

    def below(parent: str, call: Span) -> Span:
        return msgspec.structs.replace(call, parent_id=parent)

    bikes = chat("a1", 2, "Which bikes are in stock?", "Twelve city bikes.")
    helmets = chat("b1", 4, "Do you sell helmets?", "Yes, in three sizes.")
    history = (message("user", "Which bikes are in stock?"), message("assistant", "Let me see."))
    again = chat("a2", 6, "Which bikes are in stock?", "Twelve city bikes.", history=history)
    spans = below("a", bikes), below("b", helmets), below("a", again)
    assert turns(request("a", 1, 9), request("b", 3, 8), *spans) == [
        ("Which bikes are in stock?", "Twelve city bikes."),
        ("Do you sell helmets?", "Yes, in three sizes."),
    ]


def test_run_after_one_whose_span_is_lost_is_a_turn_of_its_own():
    asked = chat("a", 1, "Is it warm in Rome today?", "")
    lost = msgspec.structs.replace(asked, status="error")
    (trace,) = to_traces((lost, run("b", 3, 5, "Any bikes?")))
    assert [turn.user for turn in trace.turns] == ["Is it warm in Rome today?", "Any bikes?"]


def test_step_before_an_agent_whose_parent_is_missing_is_no_turn():
    step = chat("a", 1, "Classify: Any bikes in stock?", "stock")
    (trace,) = to_traces((step, run("b", 3, 5, "Any bikes in stock?")))
    assert [turn.user for turn in trace.turns] == ["Any bikes in stock?"]
