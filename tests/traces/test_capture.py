from __future__ import annotations

import pytest

from carob.schema import AgentMessage, Case, Lineage, Problem, ToolCall, ToolResult, Trace, Turn
from carob.traces.capture import Capture, TraceFilter, case_from_trace, table_case

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
        messages=(AgentMessage(agent="orders", text="Let me look."),),
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


def capture(*traces: Trace, filter_: TraceFilter | None = None) -> Capture:
    result = Capture(filter_ or TraceFilter())
    result.add(traces)
    return result


def test_case_expects_the_actions_of_the_agent():
    case = case_from_trace(trace())
    (turn,) = case.turns
    assert (turn.user, turn.response) == ("Where is my order?", "On its way.")
    assert turn.tool_calls == (ToolCall(name="find", args={"id": 7}, id="c1", agent="orders"),)
    assert (case.agents, case.trajectory, case.state) == (("orders",), ("orders",), {"done": True})


def test_case_has_the_source_and_date_of_its_trace():
    assert case_from_trace(trace()).lineage == Lineage(
        source="genai trace",
        trace_id=f"{1:032x}",
        file="shop.jsonl",
        date_added="2024-10-04",
    )


def test_same_question_with_a_different_answer_is_a_different_case():
    result = capture(trace(1), trace(2, response="It is lost."))
    first, second = (case.id for case in result.finish())
    assert second == f"{first}-2"


def test_trace_with_the_same_content_is_a_duplicate():
    result = capture(trace(1), trace(2))
    assert len(result.finish()) == 1
    assert result.to_report("adk", 1).duplicates == ("s-2",)


def test_trace_without_a_user_message_is_a_problem_with_a_hint():
    result = capture(trace(user=None))
    assert not result.finish()
    (problem,) = result.problems
    assert isinstance(problem, Problem)
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in (problem.hint or "")


@pytest.mark.parametrize(
    ("filter_", "matches"),
    [
        (TraceFilter(agent="orders"), True),
        (TraceFilter(agent="returns"), False),
        (TraceFilter(session="s-1"), True),
        (TraceFilter(session=f"{1:032x}"), True),
        (TraceFilter(session="s-9"), False),
        (TraceFilter(since=20_000 * DAY), True),
        (TraceFilter(since=20_001 * DAY), False),
        (TraceFilter(until=20_001 * DAY), True),
        (TraceFilter(until=20_000 * DAY), False),
        (TraceFilter(status="ok"), True),
        (TraceFilter(status="error"), False),
    ],
)
def test_filter_selects_only_matching_traces(filter_: TraceFilter, matches: bool):
    result = capture(trace(), filter_=filter_)
    assert (len(result.finish()), result.left_out) == ((1, 0) if matches else (0, 1))


def test_trace_without_agents_belongs_to_the_agent_of_the_filter():
    (case,) = capture(trace(agents=()), filter_=TraceFilter(agent="orders")).finish()
    assert case.agents == ("orders",)


def test_logged_cases_get_the_agent_and_preserve_other_fields():
    result = Capture(TraceFilter(agent="orders"))
    logged = Case.of("Hi", "Hello")
    result.add_cases([logged])
    assert [(case.agents, case.turns) for case in result.finish()] == [(("orders",), logged.turns)]


def test_row_of_the_table_stores_the_trace_with_the_case():
    case = table_case(trace())
    assert case.turns == (Turn(user="Where is my order?"),)
    assert case.recorded is not None
    assert case.recorded.turns[-1].messages[-1] == AgentMessage(agent="orders", text="On its way.")


def test_filters_that_match_nothing_list_the_agents_of_the_traces():
    result = capture(trace(agents=("orders",)), filter_=TraceFilter(agent="order"))
    hint = "the filters left out the only trace; agents in the traces: orders"
    assert result.explain_empty() == hint
