"""What only Codex records: texts in the user's name, repeated counts, exit codes."""

from __future__ import annotations

import json

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def read(*lines: Json) -> Trace:
    (trace,) = read_items(lines, source="f")
    assert isinstance(trace, Trace)
    return trace


def item(kind: str, **payload: Json) -> Json:
    inner: Json = {"type": kind, **payload}
    return {"timestamp": "2026-03-03T09:00:00Z", "type": "response_item", "payload": inner}


def user(text: str) -> Json:
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def test_without_events_the_users_texts_are_those_that_codex_did_not_write():
    trace = read(
        user("# AGENTS.md instructions for /shop"), user("<environment_context>"), user("Hi")
    )
    assert [turn.user for turn in trace.turns] == ["Hi"]


def test_command_with_an_exit_code_has_failed():
    output = json.dumps({"output": "no such file", "metadata": {"exit_code": 1}})
    trace = read(
        user("Look"),
        item("function_call", name="shell", arguments='{"command": ["ls", "x"]}', call_id="c"),
        item("function_call_output", call_id="c", output=output),
    )
    (result,) = trace.turns[0].tool_results
    assert (result.name, result.result, result.error) == ("shell", "no such file", "no such file")


def test_patch_is_a_call_with_its_text():
    trace = read(
        user("Fix"),
        item("custom_tool_call", status="completed", name="apply_patch", input="***", call_id="c"),
        item("custom_tool_call_output", call_id="c", output="Success"),
    )
    (turn,) = trace.turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("apply_patch", "***")]
    assert [(r.name, r.result, r.error) for r in turn.tool_results] == [
        ("apply_patch", "Success", None)
    ]


def test_events_without_the_text_do_not_hide_what_the_user_wrote():
    event: Json = {"type": "event_msg", "payload": {"type": "user_message"}}
    trace = read(user("Hi"), event, user("And now?"), event)
    assert [turn.user for turn in trace.turns] == ["Hi", "And now?"]


def event(kind: str, **payload: Json) -> Json:
    inner: Json = {"type": kind, **payload}
    return {"timestamp": "2026-03-03T09:00:00Z", "type": "event_msg", "payload": inner}


def test_answers_of_events_count_where_there_are_no_items_of_them():
    call = item("function_call", name="shell", arguments='{"command": "ls"}', call_id="c")
    trace = read(event("user_message", message="Hi"), call, event("agent_message", message="Yo."))
    (turn,) = trace.turns
    assert (turn.user, turn.response, len(turn.tool_calls or ())) == ("Hi", "Yo.", 1)


def test_answers_that_are_items_are_not_repeated_by_their_events():
    content: Json = [{"type": "output_text", "text": "Yo."}]
    answer = item("message", role="assistant", content=content)
    trace = read(user("Hi"), event("agent_message", message="Yo."), answer)
    assert (trace.turns[0].response, trace.turns[0].messages) == ("Yo.", ())


def test_events_alone_do_not_say_that_no_tool_was_called():
    trace = read(event("user_message", content="Hi"), event("agent_message", content="Yo."))
    (turn,) = trace.turns
    assert (turn.user, turn.response, turn.tool_calls) == ("Hi", "Yo.", None)


def test_end_of_a_task_has_the_answer_where_nothing_else_does():
    asked = event("user_message", message="Hi")
    ended = event("task_complete", last_agent_message="Yo.")
    (turn,) = read(asked, ended).turns
    assert (turn.user, turn.response, turn.tool_calls) == ("Hi", "Yo.", None)
    (turn,) = read(asked, event("agent_message", message="Yo."), ended).turns
    assert (turn.response, turn.messages) == ("Yo.", ())


COMMAND = event("exec_command_end", call_id="c", command=["ls", "x"], stdout="a", exit_code=0)


def test_calls_that_are_events_only_are_calls():
    invocation: Json = {"server": "shop", "tool": "find", "arguments": {"id": 7}}
    trace = read(
        event("user_message", message="Hi"),
        COMMAND,
        event("mcp_tool_call_end", call_id="m", invocation=invocation, result={"count": 0}),
        event("patch_apply_end", call_id="p", changes={"a": {}}, stderr="no file", success=False),
        event("web_search_end", call_id="w", query="bikes"),
        event("exec_command_end", call_id="u", command=["pwd"], source="user_shell"),
        event("agent_message", message="Yo."),
    )
    (turn,) = trace.turns
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [
        ("exec_command", {"command": ["ls", "x"]}),
        ("find", {"id": 7}),
        ("apply_patch", {"changes": {"a": {}}}),
        ("web_search", {"query": "bikes"}),
    ]
    assert [(r.result, r.error) for r in turn.tool_results] == [
        ("a", None),
        ({"count": 0}, None),
        (None, "no file"),
        (None, None),
    ]


def test_calls_that_are_items_are_not_repeated_by_their_events():
    call = item("function_call", name="shell", arguments='{"command": "ls"}', call_id="c")
    output = item("function_call_output", call_id="c", output="a")
    searched = item("web_search_call", action={"type": "search", "query": "bikes"})
    search = event("web_search_end", call_id="w", query="bikes")
    (turn,) = read(user("Hi"), call, COMMAND, output, searched, search).turns
    assert [call.name for call in turn.tool_calls or ()] == ["shell", "web_search"]
    assert [result.result for result in turn.tool_results] == ["a"]


def test_event_has_the_result_of_a_call_without_an_output():
    call = item("function_call", name="shell", arguments='{"command": "ls"}', call_id="c")
    (turn,) = read(user("Hi"), call, COMMAND).turns
    assert [call.name for call in turn.tool_calls or ()] == ["shell"]
    assert [(result.name, result.result) for result in turn.tool_results] == [("shell", "a")]


def test_answers_of_a_turn_without_items_are_its_events():
    content: Json = [{"type": "output_text", "text": "Yo."}]
    (first, second) = read(
        event("user_message", message="Hi"),
        event("agent_message", message="Yo."),
        item("message", role="assistant", content=content),
        event("user_message", message="And now?"),
        event("agent_message", message="Bye."),
    ).turns
    assert (first.response, first.messages, first.tool_calls) == ("Yo.", (), ())
    assert (second.response, second.tool_calls) == ("Bye.", None)


def test_event_of_a_command_without_an_id_is_no_other_call():
    call = item("function_call", name="shell", arguments='{"command": "ls"}', call_id="c")
    output = item("function_call_output", call_id="c", output="a")
    (turn,) = read(user("Hi"), call, event("exec_command_end", exit_code=0), output).turns
    assert [call.name for call in turn.tool_calls or ()] == ["shell"]
    assert len(turn.tool_results) == 1
