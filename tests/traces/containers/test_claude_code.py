"""What only Claude Code records: sub-agents, commands, and messages in the user's name."""

from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def read(*lines: Json) -> list[Trace]:
    return [record for record in read_items(lines, source="f") if isinstance(record, Trace)]


def user(content: Json, **fields: Json) -> dict[str, Json]:
    message: Json = {"role": "user", "content": content}
    return {"type": "user", "sessionId": "s", "uuid": "u", "message": message, **fields}


def answer(*blocks: Json, key: str = "m", tokens: int = 1, **fields: Json) -> dict[str, Json]:
    message: dict[str, Json] = {"id": key, "role": "assistant", "model": "atlas-2"}
    message |= {"content": list(blocks), "usage": {"input_tokens": tokens, "output_tokens": 1}}
    return {"type": "assistant", "sessionId": "s", "uuid": "a", "message": message, **fields}


def text(content: str) -> Json:
    return {"type": "text", "text": content}


def use(name: str, key: str, **args: Json) -> Json:
    return {"type": "tool_use", "id": key, "name": name, "input": args}


def result(key: str, content: str) -> Json:
    return {"type": "tool_result", "tool_use_id": key, "content": content}


def test_calls_of_a_subagent_belong_to_the_turn_and_its_words_do_not():
    delegated: dict[str, Json] = {"isSidechain": True, "agentId": "7"}
    (trace,) = read(
        user("Is the shop open?"),
        answer(use("Task", "t1", prompt="Find the hours", subagent_type="finder"), key="m1"),
        user("Find the hours") | delegated,
        answer(use("Grep", "t2", pattern="hours"), key="m2") | delegated,
        user([result("t2", "9 to 5")]) | delegated,
        answer(text("From 9 to 5."), key="m3") | delegated,
        user([result("t1", "From 9 to 5.")]),
        answer(text("Yes, until five."), key="m4"),
    )
    (turn,) = trace.turns
    assert (turn.user, turn.response) == ("Is the shop open?", "Yes, until five.")
    assert [(call.name, call.agent) for call in turn.tool_calls or ()] == [
        ("Task", None),
        ("Grep", "finder"),
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [
        ("Grep", "9 to 5"),
        ("Task", "From 9 to 5."),
    ]
    assert (trace.usage.input_tokens, turn.agents, turn.messages) == (4, ("finder",), ())


def test_file_of_a_subagent_is_a_trace_of_its_own():
    delegated: dict[str, Json] = {"isSidechain": True, "agentId": "7"}
    (trace,) = read(user("Find the hours") | delegated, answer(text("9 to 5.")) | delegated)
    assert (trace.id, trace.conversation, trace.attributes) == ("7", None, {"delegated_by": "s"})
    assert [(turn.user, turn.response) for turn in trace.turns] == [("Find the hours", "9 to 5.")]


def test_repeated_message_counts_its_last_usage_once():
    (trace,) = read(user("Hi"), answer(text("Hel"), tokens=1), answer(text("lo"), tokens=5))
    assert (len(trace.model_calls), trace.usage.input_tokens) == (1, 5)


def test_command_that_the_model_runs_is_what_the_user_typed():
    command = "<command-message>review</command-message><command-name>/review</command-name>"
    (trace,) = read(
        user(f"{command}<command-args>api.py</command-args>"),
        user("The prompt of the command", isMeta=True),
        answer(text("Fine.")),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [("/review api.py", "Fine.")]


def test_what_the_program_writes_in_the_users_name_starts_no_turn():
    (trace,) = read(
        user("Go on"),
        answer(use("Bash", "t1", command="ls")),
        user([text("[Request interrupted by user]")]),
        user("This session is being continued", isCompactSummary=True),
        user("Stop"),
        answer(text("Stopped."), key="m2"),
    )
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Go on", None),
        ("Stop", "Stopped."),
    ]


def test_failed_request_is_an_error_and_no_answer():
    (trace,) = read(user("Hi"), answer(text("API Error: 529 overloaded"), isApiErrorMessage=True))
    assert (trace.turns[0].response, trace.turns[0].error) == (None, "API Error: 529 overloaded")


def test_printed_stream_names_the_call_that_started_a_subagent():
    start: Json = {"type": "system", "subtype": "init", "session_id": "s", "uuid": "0"}
    end: Json = {"type": "result", "subtype": "success", "session_id": "s", "result": "Done."}
    lines = [
        answer(use("Task", "t1", prompt="Look", subagent_type="finder"), key="m1"),
        answer(use("Read", "t2", path="a.py"), key="m2", parent_tool_use_id="t1"),
        answer(text("Done."), key="m3"),
    ]
    streamed: list[Json] = [
        {key: value for key, value in line.items() if key != "sessionId"} | {"session_id": "s"}
        for line in lines
    ]
    (trace,) = read(start, *streamed, end)
    (turn,) = trace.turns
    assert (turn.user, turn.response) == (None, "Done.")
    assert [(call.name, call.agent) for call in turn.tool_calls or ()] == [
        ("Task", None),
        ("Read", "finder"),
    ]


def test_branch_that_the_user_left_is_not_part_of_the_session():
    lines = (
        user("Write a function", uuid="u1"),
        answer(text("Which one?"), key="m1", uuid="a1", parentUuid="u1"),
        user("One that parses JSON", uuid="u2", parentUuid="a1"),
        answer(text("Here is json."), key="m2", uuid="a2", parentUuid="u2"),
        user("One that parses YAML", uuid="u3", parentUuid="a1"),
        answer(text("Here is yaml."), key="m3", uuid="a3", parentUuid="u3"),
    )
    (trace,) = read(*lines)
    assert [(turn.user, turn.response) for turn in trace.turns] == [
        ("Write a function", "Which one?"),
        ("One that parses YAML", "Here is yaml."),
    ]
    assert trace.usage.input_tokens == 2


def test_results_of_parallel_calls_are_no_branches():
    (trace,) = read(
        user("Look", uuid="u1"),
        answer(use("Read", "t1"), use("Grep", "t2"), uuid="a1", parentUuid="u1"),
        user([result("t1", "x")], uuid="r1", parentUuid="a1"),
        user([result("t2", "y")], uuid="r2", parentUuid="a1"),
        answer(text("Both."), key="m2", uuid="a2", parentUuid="r2"),
    )
    assert [item.result for item in trace.turns[0].tool_results] == ["x", "y"]


def test_sessions_in_one_file_are_several_traces():
    traces = read(user("Hi", sessionId="a"), user("Hi", sessionId="b"))
    assert [(trace.id, trace.conversation) for trace in traces] == [("a", "a"), ("b", "b")]
