from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

MESSAGES: list[Json] = [
    {"type": "human", "content": "Hi", "id": "1"},
    {"type": "ai", "content": "Hello", "id": "2", "tool_calls": []},
]


def state(messages: list[Json]) -> Json:
    checkpoint: Json = {"thread_id": "th", "checkpoint_id": "c"}
    values: Json = {"messages": messages}
    return {"values": values, "next": [], "tasks": [], "metadata": {}, "checkpoint": checkpoint}


def read(value: Json) -> Trace:
    (trace,) = read_items([value], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_state_of_a_thread_is_its_conversation():
    trace = read(state(MESSAGES))
    assert (trace.conversation, trace.convention) == ("th", "langgraph")
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Hi", "Hello")]


def test_history_of_states_is_one_conversation():
    assert (
        read([state(MESSAGES), state(MESSAGES[:1]), state([])]).turns == read(state(MESSAGES)).turns
    )
