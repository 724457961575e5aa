"""Folders of traces, as coding agents keep them, and what is said about files without traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.api.traces import list_traces
from carob.errors import CarobError, UnknownFormatError
from carob.schema import Json


def write_session(path: Path, session: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {"role": "user", "content": "Which Python does CI use?"}
    line = {"type": "user", "sessionId": session, "uuid": "u", "message": message}
    path.write_text(json.dumps(line) + "\n", "utf-8")


def test_folder_without_files_stands_for_those_below_it(tmp_path: Path):
    write_session(tmp_path / "shop" / "a.jsonl", "a")
    write_session(tmp_path / "site" / "b.jsonl", "b")
    note = tmp_path / "site" / "b" / "subagents" / "c.meta.json"
    note.parent.mkdir(parents=True)
    note.write_text('{"agentType": "Explore"}', "utf-8")
    listing = list_traces(tmp_path)
    assert [entry.trace.id for entry in listing.traces] == ["a", "b"]
    assert listing.problems == ()


def test_file_of_a_folder_that_has_no_traces_is_skipped_and_named(tmp_path: Path):
    write_session(tmp_path / "a.jsonl", "a")
    (tmp_path / "index.json").write_text('[{"title": "Untitled"}]', "utf-8")
    listing = list_traces(tmp_path)
    assert [entry.trace.id for entry in listing.traces] == ["a"]
    (problem,) = listing.problems
    assert (problem.where, problem.severity) == (str(tmp_path / "index.json"), "note")
    assert problem.message.startswith("skipped: no trace container matches")


def test_folder_without_any_trace_is_an_error(tmp_path: Path):
    (tmp_path / "index.json").write_text('[{"title": "Untitled"}]', "utf-8")
    with pytest.raises(UnknownFormatError):
        list_traces(tmp_path)


def test_named_file_without_traces_is_an_error_beside_others(tmp_path: Path):
    write_session(tmp_path / "a.jsonl", "a")
    (tmp_path / "index.json").write_text('[{"title": "Untitled"}]', "utf-8")
    with pytest.raises(UnknownFormatError):
        list_traces([tmp_path / "a.jsonl", tmp_path / "index.json"])


def test_spans_in_an_unknown_shape_are_not_called_golden_data(tmp_path: Path):
    path = tmp_path / "export.json"
    spans = [{"type": "tool_call", "name": "lookup"}]
    path.write_text(json.dumps([{"trace_id": "t", "query": "Where?", "spans": spans}]), "utf-8")
    with pytest.raises(UnknownFormatError, match="'trace_id', 'query', 'spans'"):
        list_traces(path)


def test_hint_for_a_session_file_names_no_setting_of_opentelemetry(tmp_path: Path):
    path = tmp_path / "session.json"
    event: dict[str, Json] = {
        "id": "e",
        "invocation_id": "i",
        "author": "shop",
        "actions": {"state_delta": {}},
    }
    session: dict[str, Json] = {"id": "s", "app_name": "a", "state": {}, "events": [event]}
    path.write_text(json.dumps(session), "utf-8")
    with pytest.raises(CarobError) as caught:
        list_traces(path)
    assert "OTEL" not in (caught.value.hint or "")
