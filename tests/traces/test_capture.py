from __future__ import annotations

import pytest

from carob.schema import Case, Lineage, Message, Problem, ToolCall, ToolResult, Trace, Turn
from carob.traces.capture import Capture, Wanted, golden, in_table

DAY = 86_400 * 10**9


def trace(
    number: int = 1,
    *,
    user: str | None = "Where is my order?",
    response: str = "On its way.",
    agents: tuple[str, ...] = ("orders",),
    error: str | None = None,
) -> Trace:
    call = ToolCall(name="find", args={"id": 7}, id="c1", agent="orders", start=5, end=9)
    turn = Turn(
        user=user,
        response=response,
        tool_calls=(call,),
        tool_results=(ToolResult(name="find", id="c1", result="shipped"),),
        messages=(Message(agent="orders", text="Let me look."),),
        agents=agents,
        error=error,
        start=20_000 * DAY + number,
        end=20_000 * DAY + number + 100,
    )
    return Trace(
        id=f"s-{number}",
        turns=(turn,),
        source="logs/shop.jsonl",
        convention="genai",
        state={"done": True},
        attributes={"trace_ids": [f"{number:032x}"]},
    )


def captured(*traces: Trace, wanted: Wanted | None = None) -> Capture:
    taken = Capture(wanted or Wanted())
    taken.add(traces)
    return taken


def test_a_case_expects_what_the_recording_tells():
    case = golden(trace())
    (turn,) = case.turns
    assert (turn.user, turn.response) == ("Where is my order?", "On its way.")
    assert turn.tool_calls == (ToolCall(name="find", args={"id": 7}, id="c1", agent="orders"),)
    assert (case.agents, case.trajectory, case.state) == (("orders",), ("orders",), {"done": True})


def test_a_case_knows_where_it_comes_from_and_its_date_is_the_recordings():
    assert golden(trace()).lineage == Lineage(
        source="genai recording",
        trace_id=f"{1:032x}",
        file="shop.jsonl",
        date_added="2024-10-04",
    )


def test_the_same_question_with_another_answer_is_another_case():
    taken = captured(trace(1), trace(2, response="It is lost."))
    first, second = (case.id for case in taken.cases)
    assert second == f"{first}-2"


def test_a_recording_that_says_the_same_is_named_as_a_duplicate():
    taken = captured(trace(1), trace(2))
    assert len(taken.cases) == 1
    assert taken.captured("adk").duplicates == ("s-2",)


def test_a_recording_without_the_users_message_is_a_problem_with_a_hint():
    taken = captured(trace(user=None))
    assert taken.cases == []
    (problem,) = taken.problems
    assert isinstance(problem, Problem)
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in (problem.hint or "")


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        (Wanted(agent="orders"), True),
        (Wanted(agent="returns"), False),
        (Wanted(session="s-1"), True),
        (Wanted(session=f"{1:032x}"), True),
        (Wanted(session="s-9"), False),
        (Wanted(since=20_000 * DAY), True),
        (Wanted(since=20_001 * DAY), False),
        (Wanted(until=20_001 * DAY), True),
        (Wanted(until=20_000 * DAY), False),
        (Wanted(status="ok"), True),
        (Wanted(status="error"), False),
    ],
)
def test_filters(wanted: Wanted, kept: bool):
    taken = captured(trace(), wanted=wanted)
    assert (len(taken.cases), taken.left_out) == ((1, 0) if kept else (0, 1))


def test_a_recording_that_names_no_agent_is_that_of_the_agent_asked_for():
    (case,) = captured(trace(agents=()), wanted=Wanted(agent="orders")).cases
    assert case.agents == ("orders",)


def test_logged_cases_get_the_agent_and_keep_the_rest():
    taken = Capture(Wanted(agent="orders"))
    logged = Case.of("Hi", "Hello")
    taken.add_cases([logged])
    assert [(case.agents, case.turns) for case in taken.cases] == [(("orders",), logged.turns)]


def test_a_row_of_the_table_keeps_the_recording_beside_the_case():
    case = in_table(trace())
    assert case.turns == (Turn(user="Where is my order?"),)
    assert case.recording is not None
    assert case.recording.turns[-1].messages[-1] == Message(agent="orders", text="On its way.")


def test_filters_that_leave_nothing_say_whose_recordings_there_are():
    taken = captured(trace(agents=("orders",)), wanted=Wanted(agent="order"))
    assert taken.why() == "the filters left out the only recording; recorded agents: orders"
