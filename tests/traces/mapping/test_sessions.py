"""Sessions: turns of several traces, and runs that an approval interrupted."""

from __future__ import annotations

from carob.schema import ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.mapping.sessions import merge_sessions

RENT = ToolCall("rent_bike", {"days": 3}, "call_1")
ASKED = Turn("Rent a bike for 3 days.", None, (RENT,), agents=("desk",), start=1, end=2)
DONE = Turn(
    "Rent a bike for 3 days.",
    "Done.",
    (RENT,),
    (ToolResult("rent_bike", "call_1", "ok"),),
    agents=("desk",),
    model_calls=(ModelCall(usage=Usage(5, 2)),),
    start=3,
    end=4,
)


def merge(*turns: Turn) -> Trace:
    gaps = {"response": "the response was not recorded"}
    traces = [
        Trace(
            f"t{number}",
            (turn,),
            conversation="c1",
            gaps=gaps if turn.response is None else {},
        )
        for number, turn in enumerate(turns)
    ]
    (session,) = merge_sessions(traces)
    return session


def test_run_after_an_approval_continues_the_turn():
    session = merge(ASKED, DONE)
    (turn,) = session.turns
    assert (turn.user, turn.response, turn.tool_calls) == (ASKED.user, "Done.", (RENT,))
    assert (turn.start, turn.end, turn.agents, session.gaps) == (1, 4, ("desk",), {})


def test_question_that_is_repeated_after_an_answer_is_a_turn_of_its_own():
    assert len(merge(DONE, DONE).turns) == 2


def test_other_question_after_an_interruption_is_a_turn_of_its_own():
    other = Turn("Forget it.", "Fine.", (), start=3, end=4)
    session = merge(ASKED, other)
    assert len(session.turns) == 2
    assert "response" in session.gaps


def test_run_during_a_tool_call_of_another_trace_is_a_sub_agent_and_no_turn():
    ask = ToolCall("ask_stock", {"q": "bikes"}, "call_1", "desk", start=2, end=8)
    look = ToolCall("look_up", {"item": "bike"}, "call_2", "stock", start=4, end=5)
    outer = Turn(
        "Any bikes?",
        "Twelve.",
        (ask,),
        agents=("desk",),
        model_calls=(ModelCall(agent="desk", start=1), ModelCall(agent="desk", start=9)),
        start=0,
        end=10,
    )
    inner = Turn(
        "bikes",
        "12",
        (look,),
        agents=("stock",),
        model_calls=(ModelCall(agent="stock", start=3),),
        start=3,
        end=6,
    )
    (turn,) = merge(outer, inner).turns
    assert (turn.user, turn.response, turn.tool_calls) == ("Any bikes?", "Twelve.", (ask, look))
    assert turn.agents == ("desk", "stock", "desk")
    assert len(turn.model_calls) == 3
