"""The golden datasets of a server: list, upload, edit, release."""

from __future__ import annotations

from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from carob.api import versions as versions_api
from carob.api.golden import drafts as drafts_api
from carob.api.golden import folder as golden_api
from carob.report.versions import diff_document
from carob.schema import Bump, Case, Release, ReviewStatus
from carob.schema.base import Json
from carob.schema.draft import Draft, DraftCase, DraftCasePage, GoldenEntry
from carob.server.binding import Endpoints, Query, Reply, WholeList, to_download
from carob.server.paths import DatasetPath
from carob.server.problems import RequestError
from carob.server.uploads import Upload
from carob.server.workspace import Workspace

endpoints = Endpoints()


class DatasetList(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """The datasets of a server."""

    items: tuple[GoldenEntry, ...]


class ReleaseList(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """The releases of a dataset, oldest first."""

    items: tuple[Release, ...]


class DatasetCasePath(Query, frozen=True):
    """A case of a dataset."""

    name: str
    case: str


class DatasetCasesQuery(Query, frozen=True):
    """Which cases to list."""

    tag: tuple[str, ...] = ()
    where: str | None = None
    """An expression over the fields of a case, as for `carob subset --where`."""
    review: ReviewStatus | None = None
    q: str | None = None
    """A part of what the user says or the agent answers."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    after: str | None = None
    """The `next` of the previous page."""


class VersionPath(Query, frozen=True):
    """A release of a dataset."""

    name: str
    version: str


class VersionsQuery(Query, frozen=True, rename={"from_": "from"}):
    """Two states of a dataset."""

    from_: str
    """A release."""
    to: str | None = None
    """Another release; by default the draft."""


class FileQuery(Query, frozen=True):
    """Which file to return."""

    version: str | None = None
    """A release; by default the draft."""
    format: str | None = None
    """A golden format to convert to; by default the file as it is."""


class ReviewRequest(Query, frozen=True):
    """A review of a case."""

    status: ReviewStatus
    by: str


class ReleaseRequest(Query, frozen=True):
    """How to release a draft."""

    by: str | None = None
    bump: Bump | None = None
    version: str | None = None
    because: str | None = None
    note: tuple[str, ...] = ()
    require_approved: bool = False


@endpoints.get("/api/datasets")
def list_datasets(workspace: Workspace) -> DatasetList:
    """List the datasets in the folder of golden data."""
    datasets = golden_api.list_datasets(workspace.folder)
    return DatasetList(items=datasets, total=len(datasets))


@endpoints.post("/api/datasets")
def upload_dataset(workspace: Workspace, upload: Upload) -> Reply[GoldenEntry]:
    """Add a golden file of any format to the folder of golden data."""
    entry = golden_api.add_dataset(workspace.folder, upload.path, upload.name)
    workspace.publish("dataset", {"name": entry.name})
    return Reply(entry, 201)


@endpoints.get("/api/datasets/{name}/draft")
def get_draft(workspace: Workspace, path: DatasetPath) -> Reply[Draft]:
    """Return the changes since the newest release, and the version that they require."""
    draft = drafts_api.get_draft(workspace.folder, path.name)
    return Reply(draft, headers=_etag(draft.digest))


@endpoints.post("/api/datasets/{name}/release")
def release_draft(
    workspace: Workspace, path: DatasetPath, body: ReleaseRequest, request: Request
) -> Reply[Release]:
    """Release the draft as an immutable version, as `carob release` does."""
    release = drafts_api.release_draft(
        workspace.folder,
        path.name,
        by=body.by,
        bump=body.bump,
        version=body.version,
        because=body.because,
        note=body.note,
        require_approved=body.require_approved,
        revision=_if_match(request),
    )
    workspace.publish("dataset", {"name": path.name, "version": release.version})
    return Reply(release, 201)


@endpoints.get("/api/datasets/{name}/versions")
def list_versions(workspace: Workspace, path: DatasetPath) -> ReleaseList:
    """List the releases of a dataset, oldest first."""
    releases = versions_api.versions(path.name, registry=workspace.registry)
    return ReleaseList(items=releases, total=len(releases))


@endpoints.get("/api/datasets/{name}/versions/{version}")
def get_version(workspace: Workspace, path: VersionPath) -> Release:
    """Return the record of a release; `latest`, `1` and `^1.2` choose the newest that matches."""
    return versions_api.find_release_record(f"{path.name}@{path.version}", workspace.registry)


@endpoints.get("/api/datasets/{name}/diff")
def diff_versions(workspace: Workspace, path: DatasetPath, query: VersionsQuery) -> Json:
    """Compare a release with another one or with the draft, as `carob diff` does."""
    changes = drafts_api.diff_versions(workspace.folder, path.name, query.from_, query.to)
    return diff_document(changes)  # pyright: ignore[reportReturnType] - JSON


@endpoints.get("/api/datasets/{name}/file")
def get_file(workspace: Workspace, path: DatasetPath, query: FileQuery) -> Response:
    """Return the golden file or that of a release, byte for byte, or converted to a format."""
    file = drafts_api.dataset_bytes(
        workspace.folder, path.name, version=query.version, format=query.format
    )
    return to_download(file.content, file.name)


@endpoints.get("/api/datasets/{name}/cases")
def list_dataset_cases(
    workspace: Workspace, path: DatasetPath, query: DatasetCasesQuery
) -> DraftCasePage:
    """List the cases of a dataset, in the order of the file."""
    return drafts_api.list_cases(
        workspace.folder,
        path.name,
        tags=query.tag,
        where=query.where,
        review=query.review,
        text=query.q,
        limit=query.limit,
        after=query.after,
    )


@endpoints.put("/api/datasets/{name}/cases/{case}/review")
def review_dataset_case(
    workspace: Workspace, path: DatasetCasePath, body: ReviewRequest, request: Request
) -> Reply[DraftCase]:
    """Set the review status of a case, as `carob review` does, of the state that `If-Match` names
    if it is sent."""
    revision = _if_match(request)
    case = drafts_api.review_case(
        workspace.folder, path.name, path.case, body.status, by=body.by, revision=revision
    )
    workspace.publish("dataset", {"name": path.name})
    return Reply(case, headers=_etag(case.digest))


@endpoints.get("/api/datasets/{name}/cases/{case:path}")
def get_dataset_case(workspace: Workspace, path: DatasetCasePath) -> Reply[DraftCase]:
    """Return a case of a dataset, with its digest as `ETag`."""
    case = drafts_api.get_case(workspace.folder, path.name, path.case)
    return Reply(case, headers=_etag(case.digest))


@endpoints.put("/api/datasets/{name}/cases/{case:path}")
def put_dataset_case(
    workspace: Workspace, path: DatasetCasePath, body: Case, request: Request
) -> Reply[DraftCase]:
    """Add a case with `If-None-Match: *`, or replace the state of it that `If-Match` names."""
    if body.id != path.case:
        raise RequestError(400, f"the case has the id {body.id!r}, the address {path.case!r}")
    revision = (
        drafts_api.NEW
        if request.headers.get("if-none-match") == "*"
        else _require_if_match(request)
    )
    case = drafts_api.put_case(workspace.folder, path.name, body, revision=revision)
    workspace.publish("dataset", {"name": path.name})
    status = 201 if revision == drafts_api.NEW else 200
    return Reply(case, status, _etag(case.digest))


@endpoints.delete("/api/datasets/{name}/cases/{case:path}")
def delete_dataset_case(workspace: Workspace, path: DatasetCasePath, request: Request) -> None:
    """Remove the state of a case that `If-Match` names."""
    drafts_api.delete_case(
        workspace.folder, path.name, path.case, revision=_require_if_match(request)
    )
    workspace.publish("dataset", {"name": path.name})


@endpoints.get("/api/datasets/{name}")
def get_dataset(workspace: Workspace, path: DatasetPath) -> GoldenEntry:
    """Return a dataset as it is listed."""
    file = golden_api.find_file(workspace.folder, path.name)
    entries = golden_api.list_datasets(workspace.folder)
    return next(entry for entry in entries if entry.file == file.name)


@endpoints.delete("/api/datasets/{name}")
def delete_dataset(workspace: Workspace, path: DatasetPath) -> None:
    """Delete the golden file of a dataset. Its releases stay."""
    golden_api.remove_dataset(workspace.folder, path.name)
    workspace.publish("dataset", {"name": path.name})


def _etag(digest: str) -> dict[str, str]:
    return {"ETag": f'"{digest}"'}


def _if_match(request: Request) -> str | None:
    """Return the state that the caller has seen; `None` if any will do."""
    if "if-match" not in request.headers:
        return None
    text = request.headers["if-match"].strip()
    if not text:  # of a client that has no `ETag`, as when a variable is empty
        hint = "send the `ETag` that you have seen; `*` stands for any state"
        raise RequestError(400, "the header If-Match is empty", hint=hint)
    return None if text == "*" else text.strip('"')


def _require_if_match(request: Request) -> str | None:
    if "if-match" not in request.headers:
        hint = "send the `ETag` of the case as `If-Match`; `*` overwrites any state"
        raise RequestError(428, "the state of the case that you have seen is required", hint=hint)
    return _if_match(request)
