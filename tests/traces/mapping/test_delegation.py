"""Runs of sub-agents in files of their own become parts of their session."""

from __future__ import annotations

import json
from pathlib import Path

from carob.api.running.sources import trace_files
from carob.schema import Json, Problem, Trace
from carob.traces.read import read_traces


def line(second: int, message: dict[str, Json], **more: Json) -> Json:
    kind = "assistant" if "model" in message else "user"
    time = f"2026-03-03T09:00:{second:02}Z"
    return {"type": kind, "sessionId": "s", "timestamp": time, "message": message, **more}


def ask(text: str) -> dict[str, Json]:
    return {"role": "user", "content": text}


def answer(key: str, *content: Json) -> dict[str, Json]:
    usage: Json = {"input_tokens": 10, "output_tokens": 1}
    return {
        "role": "assistant",
        "id": key,
        "model": "m",
        "content": list(content),
        "usage": usage,
    }


def use(name: str, key: str, **args: Json) -> Json:
    return {"type": "tool_use", "id": key, "name": name, "input": args}


def result(key: str, text: str) -> dict[str, Json]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": key, "content": text}],
    }


def text(value: str) -> Json:
    return {"type": "text", "text": value}


MAIN: list[Json] = [
    line(1, ask("Hello")),
    line(2, answer("m1", text("Hi."))),
    line(3, ask("When are we open?")),
    line(4, answer("m2", use("Agent", "t1", prompt="Find the hours", subagent_type="Explore"))),
    line(9, result("t1", "9 to 5")),
    line(10, answer("m3", text("From 9 to 5."))),
    line(11, ask("Thanks")),
    line(12, answer("m4", text("Bye."))),
]
INNER: list[Json] = [
    line(5, ask("Find the hours"), isSidechain=True, agentId="7"),
    line(6, answer("n1", use("Grep", "u1", pattern="hours")), isSidechain=True, agentId="7"),
    line(7, result("u1", "9-17"), isSidechain=True, agentId="7"),
    line(8, answer("n2", text("9 to 5")), isSidechain=True, agentId="7"),
]


def write(path: Path, lines: list[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in lines))
    return path


def read(*paths: Path) -> list[Trace]:
    problems: list[Problem] = []
    traces = list(read_traces(trace_files(paths), report=problems.append))
    assert problems == []
    return traces


def test_folder_with_a_subagent_gives_one_session(tmp_path: Path):
    write(tmp_path / "s.jsonl", MAIN)
    write(tmp_path / "s/subagents/agent-7.jsonl", INNER)
    (trace,) = read(tmp_path)
    assert [turn.user for turn in trace.turns] == ["Hello", "When are we open?", "Thanks"]
    turn = trace.turns[1]
    assert turn.response == "From 9 to 5."
    assert [(call.name, call.agent) for call in turn.tool_calls or ()] == [
        ("Agent", None),
        ("Grep", "Explore"),
    ]
    assert [(item.name, item.result) for item in turn.tool_results] == [
        ("Agent", "9 to 5"),
        ("Grep", "9-17"),
    ]
    assert turn.agents == ("Explore",)
    assert [call.agent for call in turn.model_calls] == [None, "Explore", "Explore", None]


def test_tokens_of_subagents_count_once(tmp_path: Path):
    main = write(tmp_path / "s.jsonl", MAIN)
    inner = write(tmp_path / "s/subagents/agent-7.jsonl", INNER)
    (trace,) = read(inner, main, inner)
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (60, 6)


def test_subagent_without_its_session_is_a_trace_of_its_own(tmp_path: Path):
    (trace,) = read(write(tmp_path / "agent-7.jsonl", INNER))
    assert (trace.id, trace.turns[0].user) == ("7", "Find the hours")


def test_subagent_of_another_session_is_not_joined(tmp_path: Path):
    other: list[Json] = [{**item, "sessionId": "x"} for item in INNER if isinstance(item, dict)]
    main, inner = write(tmp_path / "a.jsonl", MAIN), write(tmp_path / "b.jsonl", other)
    assert sorted(trace.id for trace in read(main, inner)) == ["7", "s"]


def test_run_without_a_known_prompt_belongs_to_the_turn_that_was_going_on(tmp_path: Path):
    resumed = [line(5, ask("Go on"), isSidechain=True, agentId="7"), *INNER[1:]]
    main, inner = write(tmp_path / "a.jsonl", MAIN), write(tmp_path / "b.jsonl", resumed)
    (trace,) = read(main, inner)
    names = [[call.name for call in turn.tool_calls or ()] for turn in trace.turns]
    assert names == [[], ["Agent", "Grep"], []]
