from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from carob.api.history import list_runs
from carob.api.traces import capture
from carob.errors import UsageError
from carob.files.timestamps import from_seconds, parse_age, parse_time, to_seconds
from carob.store import open_store

ACCEPTED = ["2h", "7d", "4w", "2026-03-01", "2026-03-01T12:30:00Z", "2026-03-01T12:30:00+02:00"]
REFUSED = ["yesterday", "7", "7y", "2026-13-01", "", "-7d"]


def trace_of_today(path: Path) -> Path:
    start = int(time.time() - 600) * 10**9
    span = {
        "trace_id": "ab" * 16,
        "span_id": "cd" * 8,
        "name": "invoke_agent shop",
        "start_time_unix_nano": start,
        "end_time_unix_nano": start + 10**9,
        "attributes": {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "shop",
            "gen_ai.input.messages": json.dumps([{"role": "user", "content": "Hi?"}]),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "Hi."}]),
        },
    }
    path.write_text(json.dumps(span))
    return path


def through_runs(text: str, folder: Path) -> str | None:
    store = str(folder / "carob.db")
    with open_store(store, create=True):
        pass
    try:
        list_runs(since=text, store=store)
    except UsageError as error:
        return f"{error.message} ({error.hint})"
    return None


def through_capture(text: str, folder: Path) -> str | None:
    try:
        capture(trace_of_today(folder / "t.json"), folder / "g.json", to="adk", since=text)
    except UsageError as error:
        return f"{error.message} ({error.hint})"
    return None


@pytest.mark.parametrize("text", ACCEPTED)
def test_runs_and_capture_accept_the_same_times(text: str, tmp_path: Path):
    assert through_runs(text, tmp_path) is None
    assert through_capture(text, tmp_path) is None


@pytest.mark.parametrize("text", REFUSED)
def test_runs_and_capture_refuse_the_same_times_with_the_same_message(text: str, tmp_path: Path):
    refused = through_runs(text, tmp_path)
    assert refused == through_capture(text, tmp_path)
    assert refused is not None
    assert refused.startswith(f"invalid time {text!r}")


def test_age_counts_back_from_now():
    moment = parse_time("7d")
    age = datetime.now(UTC) - moment
    assert timedelta(days=7) <= age < timedelta(days=7, minutes=1)


def test_date_as_an_end_includes_its_day():
    assert parse_time("2026-03-01", end=True) == datetime(2026, 3, 2, tzinfo=UTC)
    assert parse_time("2026-03-01T12:00", end=True) == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_age_that_is_not_one_is_a_usage_error():
    with pytest.raises(UsageError, match="invalid age '2026-03-01'"):
        parse_age("2026-03-01")


@pytest.mark.parametrize("text", ["2026-03-01T12:30:00Z", "2026-03-01T12:30:00.500000Z"])
def test_timestamp_survives_the_round_trip(text: str):
    assert from_seconds(to_seconds(text)) == text


@pytest.mark.parametrize("seconds", [None, 0, 1e-9, 1e300, float("nan")])
def test_number_that_is_not_a_date_is_not_a_timestamp(seconds: float | None):
    assert from_seconds(seconds) is None


@pytest.mark.parametrize("text", [None, "", "7d", "soon"])
def test_text_that_is_not_a_date_has_no_seconds(text: str | None):
    assert to_seconds(text) is None
