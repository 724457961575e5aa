from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def user(**content: Json) -> Json:
    return {"content": content, "timestamp": "2026-03-03T09:00:00Z"}


def use(key: str, name: str, **args: Json) -> Json:
    return {"id": key, "name": name, "orig_name": name, "args": args, "orig_args": args}


def result(key: str, block: Json, status: str = "Success") -> Json:
    return {"tool_use_id": key, "content": [block], "status": status}


HISTORY: list[Json] = [
    {
        "user": user(Prompt={"prompt": "Which Python does CI use?"}),
        "assistant": {
            "ToolUse": {
                "message_id": "m1",
                "content": "Let me look.",
                "tool_uses": [
                    use("t1", "fs_read", path="ci.yml"),
                    use("t2", "execute_bash", command="x"),
                ],
            }
        },
    },
    {
        "user": user(
            ToolUseResults={
                "tool_use_results": [
                    result("t1", {"Text": "python-version: 3.13"}),
                    result("t2", {"Json": {"exit_status": "1"}}, "Error"),
                ]
            }
        ),
        "assistant": {"Response": {"message_id": "m2", "content": "CI uses Python 3.13."}},
    },
    {
        "user": user(
            CancelledToolUses={"prompt": "Stop", "tool_use_results": [result("t3", {"Text": "no"})]}
        ),
        "assistant": {"Response": {"message_id": "m3", "content": "Stopped."}},
    },
]


def read(item: Json) -> Trace:
    (trace,) = read_items([item], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_saved_conversation_has_turns_calls_and_results():
    trace = read({"conversation_id": "c-1", "next_message": None, "history": HISTORY})
    assert (trace.id, trace.usage.input_tokens) == ("c-1", None)
    first, second = trace.turns
    assert (first.user, first.response) == ("Which Python does CI use?", "CI uses Python 3.13.")
    assert [(call.name, call.args) for call in first.tool_calls or ()] == [
        ("fs_read", {"path": "ci.yml"}),
        ("execute_bash", {"command": "x"}),
    ]
    assert [(item.name, item.result, item.error) for item in first.tool_results[:2]] == [
        ("fs_read", "python-version: 3.13", None),
        ("execute_bash", {"exit_status": "1"}, "the tool failed"),
    ]
    assert (second.user, second.response) == ("Stop", "Stopped.")


def test_row_of_the_database_is_read_like_the_conversation():
    row: Json = {"key": "/shop", "conversation_id": "c-1", "value": {"history": HISTORY}}
    assert read(row).turns == read({"history": HISTORY}).turns
