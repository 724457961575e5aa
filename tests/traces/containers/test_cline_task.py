"""Tasks of Cline in editors, whose tool calls are XML in the assistant's text."""

from __future__ import annotations

import time

import pytest

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def read(*messages: Json) -> Trace:
    (trace,) = read_items([[*messages]], source="f")
    assert isinstance(trace, Trace)
    return trace


def user(*texts: str) -> Json:
    content: list[Json] = [{"type": "text", "text": text} for text in texts]
    return {"role": "user", "content": content}


def assistant(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


TASK = user("<task>\nWhich Python does CI use?\n</task>", "<environment_details>…")
READ = assistant(
    "<thinking>Where is it?</thinking>Let me look.\n<read_file>\n<path>ci.yml</path>\n</read_file>"
)
DONE = assistant("<attempt_completion>\n<result>\nPython 3.13.\n</result>\n</attempt_completion>")


def test_calls_are_in_the_text_and_results_in_the_users_name():
    trace = read(TASK, READ, user("[read_file for 'ci.yml'] Result:", "python-version: 3.13"), DONE)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Which Python does CI use?", "Python 3.13.")
    assert [message.text for message in turn.messages] == ["Let me look."]
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("read_file", {"path": "ci.yml"})
    ]
    assert [(item.name, item.result, item.error) for item in turn.tool_results] == [
        ("read_file", "python-version: 3.13", None)
    ]


def test_feedback_of_the_user_starts_a_turn():
    comment = "[attempt_completion] Result:\n<feedback>\nAnd for the docs?\n</feedback>"
    trace = read(TASK, DONE, user(comment), DONE)
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Which Python does CI use?", "Python 3.13."),
        ("And for the docs?", "Python 3.13."),
    ]
    assert trace.turns[0].tool_results == ()


def test_question_to_the_user_is_a_response():
    question = "<ask_followup_question>\n<question>Which CI?</question>\n</ask_followup_question>"
    answer = "[ask_followup_question for 'Which CI?'] Result:\n<answer>\nThe old one\n</answer>"
    trace = read(TASK, assistant(question), user(answer), DONE)
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Which Python does CI use?", "Which CI?"),
        ("The old one", "Python 3.13."),
    ]


def test_failed_tool_is_an_error_and_nested_parameters_are_kept():
    call = "<read_file><args><file><path>a.py</path></file></args></read_file>"
    failed = user("[read_file for 'a.py'] Result:", "The tool execution failed: no such file")
    (turn,) = read(TASK, assistant(call), failed, DONE).turns
    assert [call.args for call in turn.tool_calls or ()] == [{"args": {"file": {"path": "a.py"}}}]
    assert [item.error is not None for item in turn.tool_results] == [True]


def test_native_calls_are_read_beside_the_tools_that_answer():
    call: Json = {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "ci.yml"}}
    reply: dict[str, Json] = {"result": "Python 3.13."}
    done: Json = {"type": "tool_use", "id": "c2", "name": "attempt_completion", "input": reply}
    (turn,) = read(
        TASK,
        {"role": "assistant", "content": [call]},
        user("[read_file for 'ci.yml'] Result:\npython-version: 3.13"),
        {"role": "assistant", "content": [done]},
    ).turns
    assert (turn.response, [call.name for call in turn.tool_calls or ()]) == (
        "Python 3.13.",
        ["read_file"],
    )
    assert [item.result for item in turn.tool_results] == ["python-version: 3.13"]


@pytest.mark.parametrize("text", ["<read_file>", "<thinking>", "<task>", "<read_file><a>"])
def test_tags_that_are_never_closed_take_no_quadratic_time(text: str):
    started = time.process_time()
    read(TASK, assistant(text * 20_000), user(text * 20_000), DONE)
    assert time.process_time() - started < 2
