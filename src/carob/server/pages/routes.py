"""The routes of all pages and of the files that they load."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from carob.server.pages import (
    case,
    case_editor,
    compare,
    dataset,
    dataset_case,
    dataset_diff,
    dataset_selection,
    datasets,
    findings,
    home,
    jobs,
    leaderboard,
    live,
    metrics,
    progress,
    regression,
    review,
    review_queues,
    run,
    run_cases,
    runs,
    selection,
    session,
    session_golden,
    settings,
    upload,
)
from carob.server.pages.page import error_page, to_page_route
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

_MODULES = (
    *(
        home,
        runs,
        run_cases,
        regression,
        selection,
        case,
        run,
        compare,
        jobs,
        progress,
        review_queues,
        review,
    ),
    *(
        dataset_diff,
        findings,
        case_editor,
        dataset_case,
        dataset_selection,
        dataset,
        datasets,
    ),
    *(metrics, live, session_golden, session, leaderboard, upload, settings),
)
_SCRIPTS = (
    "pages",
    "keys",
    "filters",
    "tables",
    "events",
    "forms",
    "regions",
    "selection",
    "speak",
)
_STATIC = {
    "design.css": ("carob.report.html", "text/css"),
    "pages.css": ("carob.server.static", "text/css"),
    **{f"{name}.js": ("carob.server.static", "text/javascript") for name in _SCRIPTS},
}


def page_routes(workspace: Workspace) -> list[Route]:
    """Return the routes of the pages."""
    pages = [page for module in _MODULES for page in module.pages.all]
    routes = [to_page_route(method, path, handler, workspace) for method, path, handler in pages]
    return [*routes, Route("/static/{name}", _static)]


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return error_page(RequestError(404, f"no such file: {name}"), request)
    content, etag = _load(name)
    headers = {"etag": etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_STATIC[name][1])


@cache
def _load(name: str) -> tuple[bytes, str]:
    content = (resources.files(_STATIC[name][0]) / name).read_bytes()
    return content, f'"{sha256(content).hexdigest()[:16]}"'
