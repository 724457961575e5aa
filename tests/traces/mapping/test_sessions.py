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
