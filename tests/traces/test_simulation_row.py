from __future__ import annotations

from typing import Any, cast

from carob.schema import AgentMessage, ModelCall, Span, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.simulation_row import add_table_columns, summarize_session

SECOND = 10**9


def session(**changes: Any) -> Trace:
    """Two equal calls, one after the other, and an answer by a sub-agent."""
    turn = Turn(
        user="Where are my orders?",
        response="Both are shipped.",
        agents=("front", "orders"),
        messages=(AgentMessage(agent="front", text="One moment."),),
        model_calls=(
            ModelCall(agent="front", usage=Usage(input_tokens=5), end=2 * SECOND),
            ModelCall(agent="orders", end=4 * SECOND),
        ),
        tool_calls=tuple(
            ToolCall(name="find_order", args={"order_id": 8}, id=f"c{n}", agent="orders",
                     start=(4 + n) * SECOND, end=(4 + n) * SECOND + 250)
            for n in range(2)
        ),
        tool_results=(
            ToolResult(name="find_order", id="c1", result={"status": "shipped"}),
            ToolResult(name="find_order", id="c0", error="timeout"),
        ),
        start=1 * SECOND,
        end=9 * SECOND,
    )  # fmt: skip
    attributes = {"user_id": "jo@example.com", "app_name": "shop"}
    return Trace(id="s-1", turns=(turn,), attributes=cast("Any", attributes), **changes)


def rows(trace: Trace) -> list[dict[str, Any]]:
    return cast("Any", add_table_columns(trace, "case-1").attributes["session_trace"])


def test_each_call_is_one_span_with_its_arguments_and_result():
    tools = [row for row in rows(session()) if row["name"] == "execute_tool find_order"]
    assert [row["attributes"]["gcp.vertex.agent.tool_call_args"] for row in tools] == [
        '{"order_id":8}',
        '{"order_id":8}',
    ]
    assert [row["attributes"]["gcp.vertex.agent.tool_response"] for row in tools] == [
        '{"error":"timeout"}',
        '{"status":"shipped"}',
    ]


def test_spans_have_the_durations_of_the_turn():
    lengths = [row["end_time"] - row["start_time"] for row in rows(session())]
    root, front, orders, *models, first, second = lengths
    assert (root, front, orders) == (8 * SECOND, 8 * SECOND, SECOND + 250)
    assert models == [SECOND, 2 * SECOND]
    assert (first, second) == (250, 250)


def test_tool_span_is_a_child_of_the_model_call_that_requested_it():
    by_id = {row["span_id"]: row for row in rows(session())}
    tool = next(row for row in by_id.values() if row["name"].startswith("execute_tool"))
    model = by_id[tool["parent_span_id"]]
    agent = by_id[model["parent_span_id"]]
    assert (model["name"], agent["name"]) == ("call_llm", "invoke_agent orders")
    assert by_id[agent["parent_span_id"]]["name"] == "invoke_agent front"


def test_existing_spans_are_used_unchanged():
    span = Span(trace_id="t", span_id="a", name="invocation", start=1, end=2)
    assert [row["name"] for row in rows(session(spans=(span,)))] == ["invocation"]


def test_summary_lists_repeated_calls_and_no_user():
    lines = summarize_session(session()).splitlines()
    assert lines[0] == "user: Where are my orders?"
    assert lines.count('orders calls find_order({"order_id":8})') == 2
    assert lines[-1] == "orders: Both are shipped."


def test_user_is_not_a_column():
    columns = add_table_columns(session(), "case-1").attributes
    assert columns.keys() == {"app_name", "trace_summary", "session_trace"}
