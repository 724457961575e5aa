"""Chats of which each line is an object of another program: bots, Goose and Cursor."""

from __future__ import annotations

import json

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def read(*values: Json) -> list[Trace]:
    return [record for record in read_items(values, source="f") if isinstance(record, Trace)]


def dialogue(trace: Trace) -> list[tuple[str | None, str | None]]:
    return [(turn.user, turn.response) for turn in trace.turns]


def activity(role: str, text: str, kind: str = "message", conversation: str = "c") -> Json:
    where: Json = {"id": conversation}
    return {"type": kind, "from": {"role": role}, "conversation": where, "text": text}


def test_activities_of_a_bot_have_their_role_in_from():
    (trace,) = read(
        activity("user", "What is open?"),
        activity("bot", "", "typing"),
        activity("bot", "The library."),
    )
    assert (trace.conversation, dialogue(trace)) == ("c", [("What is open?", "The library.")])
    assert trace.turns[0].tool_calls is None


def test_activity_without_a_role_is_not_the_bots_answer():
    activities: list[Json] = [{"type": "message", "from": {"id": "x"}, "text": "What is open?"}]
    problems: list[str] = []
    values = [*activities, activity("user", "Hello?")]
    (trace,) = read_items(
        values, source="f", report=lambda problem: problems.append(problem.message)
    )
    assert isinstance(trace, Trace)
    assert (dialogue(trace), len(problems)) == ([("Hello?", None)], 1)


def python_activity(role: str, kind: str, **fields: Json) -> Json:
    """An activity as Microsoft's SDK for Python writes it."""
    writer: Json = {"role": role}
    return {"type": kind, "from_property": writer, "conversation": {"id": "c"}, **fields}


def test_activities_of_the_python_sdk_have_their_role_in_from_property():
    (trace,) = read(
        python_activity("user", "message", text="What is open?"),
        python_activity("bot", "message", text="The library.", channel_id="directline"),
    )
    assert dialogue(trace) == [("What is open?", "The library.")]


def test_tool_items_in_the_values_of_activities_are_calls():
    call: Json = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
    output: Json = {"type": "function_call_output", "call_id": "c1", "output": "the library"}
    answer: Json = [
        {"type": "message", "content": [{"type": "output_text", "text": "The library."}]}
    ]
    (trace,) = read(
        python_activity("user", "message", text="What is open?"),
        python_activity("bot", "invoke", text="find", value=call),
        python_activity("user", "event", text="the library", value=output),
        python_activity("bot", "message", text="The library.", value=answer),
    )
    (turn,) = trace.turns
    assert dialogue(trace) == [("What is open?", "The library.")]
    assert [call.name for call in turn.tool_calls or ()] == ["find"]
    assert [result.result for result in turn.tool_results] == ["the library"]


def goose(role: str, *blocks: Json, session: str = "s") -> Json:
    return {"role": role, "session_id": session, "content_json": json.dumps(list(blocks))}


def test_goose_rows_have_their_content_as_json():
    call: Json = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
    result: Json = {"status": "success", "value": [{"type": "text", "text": "a.py"}]}
    (trace,) = read(
        goose("user", {"type": "text", "text": "Look"}),
        goose("assistant", {"type": "toolRequest", "id": "c1", "toolCall": call}),
        goose("user", {"type": "toolResponse", "id": "c1", "toolResult": result}),
        goose("assistant", {"type": "text", "text": "One file."}),
    )
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Look", "One file.")
    assert [(call.name, call.args, call.id) for call in turn.tool_calls or ()] == [
        ("shell", {"command": "ls"}, "c1")
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [("shell", "a.py")]


def test_sessions_in_one_file_are_several_traces():
    hello: Json = {"type": "text", "text": "Hi"}
    traces = read(goose("user", hello, session="a"), goose("user", hello, session="b"))
    assert [trace.id for trace in traces] == ["a", "b"]


def test_cursor_lines_have_their_content_in_message():
    hello: Json = {"content": [{"type": "text", "text": "Hi"}]}
    answer: Json = {"content": [{"type": "text", "text": "Hello"}]}
    (trace,) = read({"role": "user", "message": hello}, {"role": "assistant", "message": answer})
    assert dialogue(trace) == [("Hi", "Hello")]


def test_cursor_puts_a_tag_around_what_the_user_wrote():
    text = "<user_query>\nAdd a dark mode\n</user_query>"
    lines: list[Json] = [
        {"role": "user", "message": {"content": [{"type": "text", "text": text}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    ]
    (trace,) = read_items(lines, source="f")
    assert isinstance(trace, Trace)
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Add a dark mode", "Done.")]


def test_openhands_messages_may_have_their_text_beside_the_kind():
    lines: list[Json] = [
        {"kind": "MessageEvent", "source": "user", "content": "Add a route"},
        {"kind": "ActionEvent", "source": "agent", "tool_name": "terminal", "tool_call_id": "c"},
        {"kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": "c", "content": "x"},
        {"kind": "MessageEvent", "source": "agent", "content": "Done."},
    ]
    (trace,) = read_items(lines, source="f")
    assert isinstance(trace, Trace)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Add a route", "Done.")
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("terminal", None)]
    assert [item.result for item in turn.tool_results] == ["x"]
