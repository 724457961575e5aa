"""Uploaded traces: keep, list, describe, delete."""

from __future__ import annotations

from starlette.responses import Response

from carob.api.serving import trace_uploads as uploads_api
from carob.api.traces import list_traces as describe_traces
from carob.report.traces import traces_document
from carob.schema.base import Json, Struct
from carob.schema.job import TraceUpload
from carob.server.binding import Endpoints, Query, Reply, WholeList, to_download
from carob.server.uploads import Upload
from carob.server.workspace import Workspace

endpoints = Endpoints()


class UploadList(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """The files of traces that were uploaded."""

    items: tuple[TraceUpload, ...]


class UploadedTraces(Struct, frozen=True, omit_defaults=False):
    """An upload, and the traces in it."""

    upload: TraceUpload
    content: Json
    """What `carob traces --format json` prints."""


class TracesPath(Query, frozen=True):
    """Uploaded traces."""

    traces: str


@endpoints.post("/api/traces")
def upload_traces(workspace: Workspace, upload: Upload) -> Reply[UploadedTraces]:
    """Keep a file of traces, of any container, for runs. The same file again is the same upload."""
    kept, listing = uploads_api.add_traces(workspace.uploads, upload.path)
    location = {"Location": f"/api/traces/{kept.id}"}
    return Reply(UploadedTraces(kept, traces_document(listing)), 201, location)  # pyright: ignore[reportArgumentType] - JSON


@endpoints.get("/api/traces")
def list_uploads(workspace: Workspace) -> UploadList:
    """List the files of traces that were uploaded."""
    uploads = uploads_api.list_uploads(workspace.uploads)
    return UploadList(items=uploads, total=len(uploads))


@endpoints.get("/api/traces/{traces}/file")
def get_traces_file(workspace: Workspace, path: TracesPath) -> Response:
    """Return the uploaded file, byte for byte."""
    file = uploads_api.upload_file(workspace.uploads, path.traces)
    return to_download(file.read_bytes(), file.name)


@endpoints.get("/api/traces/{traces}/otlp")
def export_traces(workspace: Workspace, path: TracesPath) -> Json:
    """Return the spans of uploaded traces, of any container, as an OTLP export request."""
    return uploads_api.export_upload(workspace.uploads, path.traces)


@endpoints.get("/api/traces/{traces}")
def get_traces(workspace: Workspace, path: TracesPath) -> Json:
    """Describe uploaded traces and the metrics that they support, as `carob traces` does."""
    file = uploads_api.upload_file(workspace.uploads, path.traces)
    return traces_document(describe_traces(file))  # pyright: ignore[reportReturnType] - JSON


@endpoints.delete("/api/traces/{traces}")
def delete_traces(workspace: Workspace, path: TracesPath) -> None:
    """Delete uploaded traces."""
    uploads_api.remove_upload(workspace.uploads, path.traces)
