from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

from carob.api.clock import timestamp
from carob.api.history import list_runs
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.traces import capture


def test_current_time_can_be_fixed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert timestamp() == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("since", ["2020-01-01", "2020-01-01T00:00:00Z", "99999d"])
def test_every_option_accepts_the_same_time_expressions(
    since: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    traces = ["traces/good.otlp.jsonl"]
    evaluate(RunRequest(traces=traces, metrics=["latency"], store="runs.db"))
    assert len(list_runs(since=since, store="runs.db").runs) == 1
    assert capture(traces, "new.json", to="adk", since=since).cases
