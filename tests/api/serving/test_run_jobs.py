from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from carob.api.golden.folder import GoldenFolder
from carob.api.serving.run_jobs import JobRequest, JobSources, RunJobs
from carob.api.serving.trace_uploads import add_traces
from carob.errors import RefusedError, UsageError
from carob.schema.job import RunJob, status_fields

DEMO = Path(__file__).parents[3] / "src" / "carob" / "demo" / "data"


def statuses(job: RunJob) -> dict[str, object]:
    return {name: getattr(job, name) for name in ("passed", "failed", "unscored", "errors")}


def test_job_counts_statuses_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (golden := tmp_path / "golden").mkdir()
    shutil.copy(DEMO / "support.evalset.json", golden / "shop.evalset.json")
    folder = GoldenFolder(golden, golden / ".registry")
    uploads = tmp_path / "uploads"
    upload, _ = add_traces(uploads, DEMO / "traces" / "regressed.otlp.jsonl")
    sources = JobSources(store=str(tmp_path / "carob.db"), folder=folder, uploads=uploads)
    seen: list[RunJob] = []
    jobs = RunJobs(seen.append)
    request = JobRequest(
        dataset="shop", traces=(upload.id,), metrics=("tool_trajectory_avg_score",)
    )
    started = jobs.start(sources, request, "key-1")
    end = time.monotonic() + 20
    while not (job := jobs.get(started.id)).is_over:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert job.state == "done", job.problems
    assert job.cases is not None
    assert statuses(job) == status_fields(job.cases)
    assert job.cases.failed
    scored = [job for job in seen if job.state == "running" and job.done]
    assert [statuses(job) for job in scored][-1] == statuses(job)
    jobs.close()
    again = RunJobs().start(sources, request, "key-1")  # the run that an earlier server made
    assert statuses(again) == statuses(job)
    other = JobRequest(dataset="shop", traces=(upload.id,), metrics=("response_match_score",))
    with pytest.raises(RefusedError, match="another request"):
        RunJobs().start(sources, other, "key-1")


def test_labels_of_keys_cannot_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Else anybody could decide what somebody else's key leads to."""
    monkeypatch.chdir(tmp_path)
    sources = JobSources(store="carob.db", folder=GoldenFolder(tmp_path), uploads=tmp_path)
    for name in ("request", "request_body"):
        request = JobRequest(dataset="shop", labels={name: "0123456789abcdef"})
        with pytest.raises(UsageError, match="reserved"):
            RunJobs().start(sources, request)


@pytest.mark.parametrize("field", ["tags", "cases", "by"])
def test_field_that_sessions_would_ignore_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str
):
    monkeypatch.chdir(tmp_path)
    (golden := tmp_path / "golden").mkdir()
    shutil.copy(DEMO / "support.evalset.json", golden / "shop.evalset.json")
    folder = GoldenFolder(golden, golden / ".registry")
    sources = JobSources(store="carob.db", folder=folder, uploads=tmp_path)
    names: dict[str, Any] = {field: ("order_status",)}
    request = JobRequest(dataset="shop", sessions=("talk-1",), **names)
    with pytest.raises(UsageError, match=field):
        RunJobs().start(sources, request)
