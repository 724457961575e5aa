from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items
from carob.traces.containers.swe_agent import SweAgent


def read(history: list[Json], **fields: Json) -> Trace:
    (trace,) = read_items([{"trajectory": [], **fields, "history": history}], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_observations_with_the_user_role_are_results_not_turns():
    trace = read(
        [
            {"role": "system", "content": "You are a programmer."},
            {"role": "user", "content": "An example.", "is_demo": True},
            {"role": "user", "content": "Fix the bug."},
            {"role": "assistant", "content": "I look around.", "action": "ls\n"},
            {"role": "user", "content": "main.py"},
            {"role": "assistant", "content": "Done.", "action": "submit\n"},
        ]
    )
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Fix the bug.", "Done.")
    assert [result.result for result in turn.tool_results] == ["main.py"]


def test_calls_and_totals_are_read():
    function: Json = {"name": "bash", "arguments": '{"command": "ls"}'}
    call: Json = {"id": "c1", "type": "function", "function": function}
    stats: Json = {"tokens_sent": 100, "tokens_received": 7}
    trace = read(
        [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": "Look.", "action": "ls", "tool_calls": [call]},
            {"role": "tool", "content": "main.py", "tool_call_ids": ["c1"]},
        ],
        info={"model_stats": stats},
        instance_id="lib-7",
    )
    (turn,) = trace.turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("bash", {"command": "ls"})
    ]
    assert [(result.name, result.id) for result in turn.tool_results] == [("bash", "c1")]
    assert (trace.case, trace.usage.input_tokens, trace.usage.output_tokens) == ("lib-7", 100, 7)


def test_task_is_a_user_message_for_any_message_type():
    trace = read(
        [
            {"role": "user", "content": "Fix it.", "message_type": "observation"},
            {"role": "assistant", "content": "Look.", "message_type": "action"},
            {"role": "user", "content": "main.py", "message_type": "observation"},
        ]
    )
    (turn,) = trace.turns
    assert (turn.user, [result.result for result in turn.tool_results]) == ("Fix it.", ["main.py"])


def test_commands_in_the_text_make_the_calls_unknown():
    said = "Let me look.\n```\nopen a.py\n```"
    step: Json = {"action": "open a.py", "response": said, "thought": "Let me look."}
    trace = read(
        [
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": said, "action": "open a.py"},
            {"role": "user", "content": "[File: a.py]"},
        ],
        trajectory=[step],
    )
    (turn,) = trace.turns
    assert (turn.tool_calls, turn.response) == (None, "Let me look.")
    assert [result.result for result in turn.tool_results] == ["[File: a.py]"]


def test_question_with_the_chat_before_it_is_not_a_trajectory():
    before: Json = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    assert not SweAgent().claims({"question": "And now?", "history": before})
    assert SweAgent().claims({"trajectory": [], "history": before})


def test_tokens_of_a_demonstration_were_not_counted():
    stats: Json = {"tokens_sent": 0, "tokens_received": 0, "api_calls": 0}
    trace = read([{"role": "user", "content": "Fix it."}], info={"model_stats": stats})
    assert (trace.usage.input_tokens, trace.model_calls) == (None, ())
