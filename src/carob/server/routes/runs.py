"""Stored runs: list, read, report, compare, gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated, Literal

import msgspec
from starlette.responses import Response, StreamingResponse

from carob.api import compare as compare_api
from carob.api import history as history_api
from carob.api.compare import ALPHA, MARGIN
from carob.api.views.run import index_run, stored_report
from carob.errors import NotFoundError
from carob.report.forms import report_parts
from carob.schema import CaseResult, Comparison, GateResult, Run
from carob.schema.base import Struct
from carob.schema.history import CasePage, RunEntry, RunIndex
from carob.server.binding import Endpoints, Query, WholeList
from carob.server.paths import CasePath, RunPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

endpoints = Endpoints()
Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Margin = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Alpha = Annotated[float, msgspec.Meta(gt=0, lt=1)]

_REPORTS = {
    "html": ("html", "text/html; charset=utf-8"),
    "md": ("md", "text/markdown; charset=utf-8"),
    "json": ("json", "application/json"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "txt": ("text", "text/plain; charset=utf-8"),
    "junit.xml": ("junit", "application/xml"),
    "sarif": ("sarif", "application/sarif+json"),
}
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""The report is one file with its style in it; it needs no scripts, and may not have any here."""


class RunPage(Struct, frozen=True, omit_defaults=False):
    """A page of runs, newest first."""

    items: tuple[RunEntry, ...]
    next: str | None
    """Where the next page starts; `None` on the last."""
    total: int | None
    """How many there are in all; only on the first page."""


class RunsQuery(Query, frozen=True):
    """Which runs to list."""

    dataset: str | None = None
    agent: str | None = None
    tag: str | None = None
    label: tuple[str, ...] = ()
    """Labels that the run has, each as `name=value`."""
    since: str | None = None
    """A date, a time, or an age such as `7d`."""
    until: str | None = None
    limit: Limit = 20
    after: str | None = None
    """The `next` of the previous page."""


class ReportPath(Query, frozen=True):
    """A report of a run."""

    run: str
    form: Literal["html", "md", "json", "csv", "txt", "junit.xml", "sarif"]


class CasesQuery(Query, frozen=True):
    """Which cases to list."""

    status: Literal["passed", "failed", "unscored", "error", "info"] | None = None
    limit: Limit = 100
    after: int | None = None
    """The `next` of the previous page."""


class CompareQuery(Query, frozen=True):
    """Two runs to compare."""

    base: str
    run: str
    margin: Margin = MARGIN
    """How much worse still counts as equal, as a share of each metric's scale."""
    alpha: Alpha = ALPHA
    """The share of comparisons that may find a difference where there is none."""


class GateRequest(Query, frozen=True):
    """A run to decide about. Rules that are left out come from the server's configuration."""

    run: str
    baseline: str | None = None
    margin: Margin | None = None
    alpha: Alpha | None = None


class CaseResults(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """The results of one case."""

    items: tuple[CaseResult, ...]


@endpoints.get("/api/runs")
def list_runs(workspace: Workspace, query: RunsQuery) -> RunPage:
    """List runs, newest first, each with its change since the run before."""
    page = history_api.list_runs(
        dataset=query.dataset,
        agent=query.agent,
        tag=query.tag,
        labels=dict(_split_label(text) for text in query.label),
        since=query.since,
        until=query.until,
        limit=query.limit,
        start=query.after,
        store=workspace.store,
    )
    return RunPage(page.runs, page.next, page.total)


def _split_label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise RequestError(400, f"invalid label {text!r}", hint="expected NAME=VALUE")
    return name, value


@endpoints.get("/api/runs/{run}")
def get_run(workspace: Workspace, path: RunPath) -> Response:
    """Return a run as it was stored, as `carob report RUN --format json` does."""
    body = history_api.stored_document(path.run, store=workspace.store)
    return Response(body, media_type="application/json")


@endpoints.get("/api/runs/{run}/index")
def get_index(workspace: Workspace, path: RunPath) -> RunIndex:
    """Return all cases of a run as compact rows, for tables of many thousands."""
    return index_run(path.run, store=workspace.store)


@endpoints.get("/api/runs/{run}/cases")
def list_cases(workspace: Workspace, path: RunPath, query: CasesQuery) -> CasePage:
    """List the cases of a run, in the order of the dataset."""
    return history_api.stored_cases(
        path.run,
        status=query.status,
        limit=query.limit,
        after=query.after,
        store=workspace.store,
    )


@endpoints.get("/api/runs/{run}/cases/{case:path}")
def get_case(workspace: Workspace, path: CasePath) -> CaseResults:
    """Return the results of one case, one for each of its traces."""
    page = history_api.stored_cases(path.run, case=path.case, limit=1000, store=workspace.store)
    if not page.items:
        raise NotFoundError(f"{path.run} has no case {path.case!r}")
    return CaseResults(items=page.items, total=len(page.items))


@endpoints.get("/api/runs/{run}/report.{form}")
def get_report(workspace: Workspace, path: ReportPath) -> Response:
    """Return the report of a run in one of its forms."""
    inputs = stored_report(path.run, workspace.folder, store=workspace.store)
    form, media_type = _REPORTS[path.form]
    headers = {"content-security-policy": _REPORT_POLICY} if path.form == "html" else {}
    parts = iter(report_parts(form, inputs))
    first = next(parts, "")  # what cannot be reported fails here, before the status is sent
    return StreamingResponse(
        _encode_parts(chain((first,), parts)), headers=headers, media_type=media_type
    )


def _encode_parts(parts: Iterable[str]) -> Iterable[bytes]:
    return (part.encode() for part in parts)


@endpoints.get("/api/compare")
def compare_runs(workspace: Workspace, query: CompareQuery) -> Comparison:
    """Compare two runs, as `carob compare` does."""
    before, after = _load_runs(workspace, query.base, query.run)
    return compare_api.compare(before, after, margin=query.margin, alpha=query.alpha)


def _load_runs(workspace: Workspace, *names: str) -> Sequence[Run]:
    return [history_api.stored_run(name, store=workspace.store) for name in names]


@endpoints.post("/api/gate", role="read")
def gate_run(workspace: Workspace, body: GateRequest) -> GateResult:
    """Decide whether a run passes, as `carob gate` does."""
    (run,) = _load_runs(workspace, body.run)
    rules = compare_api.gate_rules(margin=body.margin, alpha=body.alpha)
    baseline = body.baseline or rules.baseline
    before = _load_runs(workspace, baseline)[0] if baseline else None
    return compare_api.gate(run, rules, baseline=before, store=workspace.store)
