from __future__ import annotations

import pytest

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

DOTNET: list[Json] = [
    {"role": "user", "contents": [{"$type": "text", "text": "Plan my week."}]},
    {
        "role": "assistant",
        "authorName": "planner",
        "createdAt": "2026-01-05T10:00:00.0064265+00:00",
        "contents": [
            {"$type": "functionCall", "callId": "c1", "name": "hours", "arguments": {"w": 1}},
            {"$type": "functionCall", "callId": "c2", "name": "topics", "arguments": {}},
        ],
    },
    {
        "role": "tool",
        "authorName": "planner",
        "contents": [
            {"$type": "functionResult", "callId": "c1", "result": "6"},
            {"$type": "functionResult", "callId": "c2", "result": ["a"]},
        ],
    },
    {
        "role": "assistant",
        "authorName": "planner",
        "contents": [{"$type": "text", "text": "Six hours of a."}],
    },
]
PYTHON: list[Json] = [
    {"role": {"value": "user"}, "contents": [{"type": "text", "text": "Plan my week."}]},
    {
        "role": {"value": "assistant"},
        "author_name": "planner",
        "contents": [
            {"type": "function_call", "call_id": "c1", "name": "hours", "arguments": '{"w": 1}'},
            {"type": "function_call", "call_id": "c2", "name": "topics", "arguments": "{}"},
        ],
    },
    {
        "role": {"value": "tool"},
        "contents": [
            {"type": "function_result", "call_id": "c1", "result": "6"},
            {"type": "function_result", "call_id": "c2", "result": ["a"]},
        ],
    },
    {
        "role": {"value": "assistant"},
        "author_name": "planner",
        "contents": [{"type": "text", "text": "Six hours of a."}],
    },
]


@pytest.mark.parametrize(
    "document",
    [
        {"conversationId": "s", "stateBag": {"InMemoryChatHistoryProvider": {"messages": DOTNET}}},
        {"session_id": "s", "state": {"memory": {"messages": PYTHON}}},
        {"id": "s", "messages": DOTNET},
    ],
    ids=["dotnet", "python", "bare"],
)
def test_session_is_read_in_full(document: Json):
    (trace,) = read_items([document], source="f")
    assert isinstance(trace, Trace)
    (turn,) = trace.turns
    assert (trace.conversation, turn.agents) == ("s", ("planner",))
    assert (turn.user, turn.response) == ("Plan my week.", "Six hours of a.")
    assert [(c.name, c.args, c.id) for c in turn.tool_calls or ()] == [
        ("hours", {"w": 1}, "c1"),
        ("topics", {}, "c2"),
    ]
    assert [(r.name, r.result) for r in turn.tool_results] == [("hours", "6"), ("topics", ["a"])]
