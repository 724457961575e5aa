"""Runs in the making: start, follow, cancel, score again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from carob.api.serving.run_jobs import JobRequest, RunJobs, list_targets
from carob.schema.base import Struct
from carob.schema.job import RunJob
from carob.server.binding import Endpoints, Query, Reply, WholeList
from carob.server.paths import JobPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

endpoints = Endpoints()
_MAX_KEY = 255
_POLL_SECONDS = 0.25
"""Progress is sent at most four times a second."""
_PINGS = 60


class JobList(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """Runs in the making and those that ended since the server started, newest first."""

    items: tuple[RunJob, ...]


class TargetList(Struct, frozen=True, omit_defaults=False):
    """The live agents that a run may ask, by their names in the server's `carob.toml`."""

    targets: tuple[str, ...]


class MadeRunPath(Query, frozen=True):
    """A run that this server makes or has made: the id of the job, or of the run."""

    run: str


class RescorePath(Query, frozen=True):
    """A stored run."""

    run: str


@endpoints.post("/api/runs")
def start_run(workspace: Workspace, body: JobRequest, request: Request) -> Reply[RunJob]:
    """Start a run in the background. The same `Idempotency-Key` gives the same run."""
    return _accept_job(workspace.jobs.start(workspace.sources, body, _key(request)))


@endpoints.post("/api/runs/{run}/rescore")
def rescore_run(
    workspace: Workspace, path: RescorePath, body: JobRequest, request: Request
) -> Reply[RunJob]:
    """Score the traces that were saved with a run again, in the background."""
    job = workspace.jobs.rescore(workspace.sources, path.run, body, _key(request))
    return _accept_job(job)


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= _MAX_KEY:
        raise RequestError(400, f"the Idempotency-Key has {len(key)} characters, expected 1 to 255")
    return key


@endpoints.get("/api/targets")
def show_targets() -> TargetList:
    """List the names of the live agents that a run may ask."""
    return TargetList(list_targets())


@endpoints.get("/api/jobs")
def list_jobs(workspace: Workspace) -> JobList:
    """List the runs in the making, newest first."""
    jobs = workspace.jobs.list()
    return JobList(items=jobs, total=len(jobs))


@endpoints.get("/api/jobs/{job}")
def get_job(workspace: Workspace, path: JobPath) -> RunJob:
    """Return a run in the making; `run` names the stored run when it is done."""
    return workspace.jobs.get(path.job)


@endpoints.post("/api/runs/{run}/cancel")
def cancel_run(workspace: Workspace, path: MadeRunPath) -> RunJob:
    """Stop a run in the making. What is scored so far is saved for the next attempt."""
    return workspace.jobs.cancel(path.run)


@endpoints.get("/api/runs/{run}/events")
def run_events(workspace: Workspace, path: MadeRunPath) -> Response:
    """Follow a run in the making as server-sent events, until it ends."""
    stream = _follow(workspace.jobs, workspace.jobs.get(path.run).id)
    return StreamingResponse(stream, media_type="text/event-stream")


def _accept_job(job: RunJob) -> Reply[RunJob]:
    return Reply(job, 202, {"Location": f"/api/jobs/{job.id}"})


async def _follow(jobs: RunJobs, id: str) -> AsyncGenerator[bytes]:
    """Yield the state of a job whenever it changes. Each event is the whole state, so that whoever
    reconnects has missed nothing."""
    last: RunJob | None = None
    number = quiet = 0
    while last is None or not last.is_over:
        job = jobs.get(id)
        quiet += 1
        if job != last:
            number, last, quiet = number + 1, job, 0
            yield (
                f"id: {number}\nevent: progress\ndata: ".encode()
                + msgspec.json.encode(job)
                + b"\n\n"
            )
        elif quiet % _PINGS == 0:
            yield b": ping\n\n"
        if not job.is_over:
            await asyncio.sleep(_POLL_SECONDS)
