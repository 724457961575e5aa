from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def step(number: int, call: Json, observed: str, **fields: Json) -> dict[str, Json]:
    return {
        "step_number": number,
        "tool_calls": [call],
        "observations": observed,
        "token_usage": {"input_tokens": 50, "output_tokens": 5},
        "is_final_answer": False,
        **fields,
    }


STEPS: list[Json] = [
    {"task": "Is the hut open?", "task_images": None},
    step(1, {"id": "c1", "name": "find_hours", "arguments": {"hut": "north"}}, "8-17"),
    step(
        2,
        {"id": "c2", "name": "final_answer", "arguments": {"answer": "Until five."}},
        "Until five.",
        is_final_answer=True,
    ),
]


def test_memory_with_one_step_per_line_is_one_conversation():
    (trace,) = read_items(STEPS, source="f")
    assert isinstance(trace, Trace)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Is the hut open?", "Until five.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("find_hours", {"hut": "north"})
    ]
    assert [(result.name, result.result) for result in turn.tool_results] == [
        ("find_hours", "8-17")
    ]
    assert trace.usage.input_tokens == 100


def test_calls_of_a_step_and_of_a_message_are_the_same():
    function: Json = {"name": "find_hours", "arguments": {"hut": "north"}}
    call: Json = {"id": "c1", "type": "function", "function": function}
    (flat,) = read_items([STEPS], source="f")
    (within,) = read_items([[STEPS[0], step(1, call, "8-17"), STEPS[2]]], source="f")
    assert isinstance(flat, Trace)
    assert isinstance(within, Trace)
    assert flat.turns == within.turns
