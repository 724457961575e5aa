from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def step(index: int, kind: str, source: str = "MODEL", **fields: Json) -> Json:
    return {
        "id": f"step-{index}",
        "step_index": index,
        "trajectory_id": "t-7",
        "depth": 0,
        "type": kind,
        "source": source,
        "status": "DONE",
        "content": "",
        "tool_calls": [],
        "error": "",
        **fields,
    }


def call(key: str, name: str, **args: Json) -> Json:
    return [{"id": key, "name": name, "args": args, "canonical_path": None}]


def read(*steps: Json) -> Trace:
    (trace,) = read_items(steps, source="f")
    assert isinstance(trace, Trace)
    return trace


QUESTION = step(1, "TEXT_RESPONSE", "USER", content="Which Python does CI use?")
LOOK = call("c1", "view_file", path="ci.yml")
ANSWER = step(9, "TEXT_RESPONSE", content="CI uses Python 3.13.")


def test_steps_are_a_conversation():
    trace = read(
        step(0, "SYSTEM_MESSAGE", "SYSTEM", content="You are brief."),
        QUESTION,
        step(2, "THINKING", thinking="I look."),
        step(3, "TOOL_CALL", tool_calls=LOOK, content="python: 3.13"),
        ANSWER,
        step(10, "FINISH", content="CI uses Python 3.13."),
    )
    (turn,) = trace.turns
    assert (trace.conversation, trace.mapper) == ("t-7", "antigravity-steps@1")
    assert (turn.user, turn.response) == ("Which Python does CI use?", "CI uses Python 3.13.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("view_file", {"path": "ci.yml"})
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [
        ("view_file", "python: 3.13")
    ]
    assert (turn.messages, trace.usage.input_tokens) == ((), None)


def test_step_that_is_recorded_again_is_one_step():
    active = step(3, "TOOL_CALL", tool_calls=LOOK, status="ACTIVE")
    failed = step(3, "TOOL_CALL", tool_calls=LOOK, status="ERROR", error="no such file")
    (turn,) = read(QUESTION, active, failed, ANSWER).turns
    assert len(turn.tool_calls or ()) == 1
    assert [item.error for item in turn.tool_results] == ["no such file"]


def test_words_of_a_subagent_are_not_the_answer():
    inner: dict[str, Json] = {"trajectory_id": "t-8", "parent_trajectory_id": "t-7", "depth": 1}
    (turn,) = read(
        QUESTION,
        step(2, "TOOL_CALL", tool_calls=call("c1", "start_subagent", task="Look")),
        step(1, "TEXT_RESPONSE", "USER", content="Look", **inner),
        step(2, "TOOL_CALL", "MODEL", tool_calls=call("c2", "view_file", path="ci.yml"), **inner),
        step(3, "TEXT_RESPONSE", "MODEL", content="It is 3.13.", **inner),
        ANSWER,
    ).turns
    assert (turn.user, turn.response) == ("Which Python does CI use?", "CI uses Python 3.13.")
    assert [(call.name, call.agent) for call in turn.tool_calls or ()] == [
        ("start_subagent", None),
        ("view_file", "subagent"),
    ]
