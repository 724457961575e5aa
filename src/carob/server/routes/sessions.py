"""Sessions of live agents."""

from __future__ import annotations

from typing import Annotated

import msgspec

from carob.api.serving import sessions as sessions_api
from carob.schema.base import Json
from carob.schema.session import CapturedCase, SessionDetail, SessionPage, SessionState
from carob.server.binding import Endpoints, Query, Reply
from carob.server.paths import SessionPath
from carob.server.workspace import Workspace

endpoints = Endpoints()


class SessionQuery(Query, frozen=True):
    """Which sessions to list."""

    agent: str | None = None
    state: SessionState | None = None
    q: str | None = None
    """Part of the id, the agent or the first message."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50
    after: str | None = None
    """The `next` of the previous page."""


class GoldenRequest(Query, frozen=True):
    """The dataset that a session becomes a case of."""

    dataset: str
    """A dataset of this server, or the name of a new one."""
    format: str | None = None
    """The golden format of a new one; by default `examples`."""


@endpoints.get("/api/sessions")
def list_sessions(workspace: Workspace, query: SessionQuery) -> SessionPage:
    """List sessions, the one that changed last first."""
    return sessions_api.list_sessions(
        workspace.store,
        agent=query.agent,
        state=query.state,
        text=query.q,
        limit=query.limit,
        after=query.after,
    )


@endpoints.get("/api/sessions/{session:path}/otlp")
def export_session(workspace: Workspace, path: SessionPath) -> Json:
    """Return the spans of a session as an OTLP export request."""
    return sessions_api.export_session(workspace.store, path.session)


@endpoints.get("/api/sessions/{session:path}")
def open_session(workspace: Workspace, path: SessionPath) -> SessionDetail:
    """Return a session, its trace, and the metrics that the trace supports."""
    return sessions_api.open_session(workspace.store, path.session)


@endpoints.post("/api/sessions/{session:path}/capture", role="read")
def capture_session(workspace: Workspace, path: SessionPath) -> CapturedCase:
    """Return the golden case that a session would become. Nothing is written."""
    return sessions_api.capture_session(workspace.store, path.session)


@endpoints.post("/api/sessions/{session:path}/golden")
def add_golden(workspace: Workspace, path: SessionPath, body: GoldenRequest) -> Reply[CapturedCase]:
    """Add a session to a dataset as a draft case. The session is never removed to make room."""
    captured = sessions_api.add_golden_session(
        workspace.store, path.session, workspace.folder, body.dataset, body.format
    )
    workspace.publish("dataset", {"name": body.dataset})
    return Reply(captured, 200 if captured.is_duplicate else 201)


@endpoints.delete("/api/sessions/{session:path}")
def discard_session(workspace: Workspace, path: SessionPath) -> None:
    """Remove a session and its spans."""
    sessions_api.discard_session(workspace.store, path.session)
    workspace.publish("session", {"id": path.session})
