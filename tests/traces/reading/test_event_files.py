"""Folders with one event of a conversation per file are read as one conversation."""

from __future__ import annotations

import json
from pathlib import Path

from carob.api.running.sources import trace_files
from carob.schema import Json, Problem, Trace
from carob.traces.read import read_traces
from tests.traces.containers.test_captured import SAMPLES


def split(name: str, folder: Path) -> None:
    """Write each event of a sample to a file of its own."""
    folder.mkdir(parents=True)
    raw = (SAMPLES / name).read_text()
    is_list = raw.startswith("[")
    events: list[Json] = json.loads(raw) if is_list else list(map(json.loads, raw.splitlines()))
    for number, event in enumerate(events):
        (folder / f"event-{number:05}.json").write_text(json.dumps(event))


def read(*paths: Path) -> tuple[list[Trace], list[Problem]]:
    problems: list[Problem] = []
    files = trace_files(paths, problems.append)
    return list(read_traces(files, report=problems.append)), problems


def test_events_of_openhands_are_one_conversation(tmp_path: Path):
    split("openhands.jsonl", tmp_path / "c/events")
    (whole,), _ = read(SAMPLES / "openhands.jsonl")
    (trace,), problems = read(tmp_path / "c")
    assert (trace.turns, problems) == (whole.turns, [])
    assert trace.source == str(tmp_path / "c/events")


def test_events_of_two_conversations_stay_apart(tmp_path: Path):
    for name in ("a", "b"):
        split("openhands.jsonl", tmp_path / name / "events")
    first = tmp_path / "b/events/event-00001.json"
    first.write_text(first.read_text().replace("Which Python", "Which Ruby"))
    traces, _ = read(tmp_path)
    users = sorted(turn.user or "" for trace in traces for turn in trace.turns)
    assert users == ["Which Python does CI use?", "Which Ruby does CI use?"]


def test_activities_of_a_bot_are_one_transcript(tmp_path: Path):
    split("bot_framework.json", tmp_path / "c")
    (whole,), _ = read(SAMPLES / "bot_framework.json")
    (trace,), problems = read(tmp_path / "c")
    assert (trace.turns, problems) == (whole.turns, [])


def test_order_of_the_files_plays_no_part(tmp_path: Path):
    split("openhands.jsonl", tmp_path / "c")
    files = sorted((tmp_path / "c").iterdir())
    assert [trace.turns for trace in read(*files[::-1])[0]] == [
        trace.turns for trace in read(*files)[0]
    ]


def test_files_of_other_kinds_in_the_folder_stay_alone(tmp_path: Path):
    split("openhands.jsonl", tmp_path / "c")
    chat: Json = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    (tmp_path / "c/zz.json").write_text(json.dumps(chat))
    traces, _ = read(tmp_path / "c")
    assert sorted(trace.turns[0].user or "" for trace in traces) == [
        "Hi",
        "Which Python does CI use?",
    ]
