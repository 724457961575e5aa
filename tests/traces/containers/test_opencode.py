"""The events of opencode's store: messages and parts as they change."""

from __future__ import annotations

import pytest

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items

SESSION = "ses_1"
TIME: Json = {"created": 1_767_607_200_000, "completed": 1_767_607_204_000}
TOKENS: Json = {"input": 40, "output": 6, "reasoning": 2, "cache": {"read": 10, "write": 0}}


def part(key: str, message: str, **fields: Json) -> dict[str, Json]:
    return {"part": {"id": key, "messageID": message, "sessionID": SESSION, **fields}}


def message(key: str, role: str, **fields: Json) -> dict[str, Json]:
    return {"info": {"id": key, "role": role, "sessionID": SESSION, **fields}}


def tool(**state: Json) -> dict[str, Json]:
    return part("p3", "m2", type="tool", tool="read", callID="c1", state=state)


CHANGES: list[tuple[str, dict[str, Json]]] = [
    ("session.created", {"info": {"id": SESSION, "title": "New session"}}),
    ("message.updated", message("m1", "user")),
    ("message.part.updated", part("p1", "m1", type="text", text="Which Python does CI use?")),
    ("message.updated", message("m2", "assistant", agent="build", modelID="atlas-2")),
    ("message.part.updated", tool(status="pending", input={})),
    ("message.part.updated", tool(status="completed", input={"path": "ci.yml"}, output="3.13")),
    ("message.part.updated", part("p4", "m2", type="text", text="CI uses")),
    ("message.part.updated", part("p4", "m2", type="text", text="CI uses Python 3.13.")),
    (
        "message.updated",
        message("m2", "assistant", agent="build", modelID="atlas-2", tokens=TOKENS, time=TIME),
    ),
]


@pytest.mark.parametrize("key", ["data", "properties"])
def test_events_are_read_as_their_last_updates_left_the_messages(key: str):
    """The store has `data` and a version after the type, the event bus `properties`."""
    version = ".1" if key == "data" else ""
    lines: list[Json] = [
        {"id": f"evt_{index}", "type": kind + version, key: {"sessionID": SESSION, **change}}
        for index, (kind, change) in enumerate(CHANGES)
    ]
    (trace,) = read_items(lines, source="f")
    assert isinstance(trace, Trace)
    (turn,) = trace.turns
    assert (trace.conversation, trace.agents, trace.models) == (SESSION, ("build",), ("atlas-2",))
    assert (turn.user, turn.response) == ("Which Python does CI use?", "CI uses Python 3.13.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("read", {"path": "ci.yml"})
    ]
    assert [result.result for result in turn.tool_results] == ["3.13"]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (50, 8)
