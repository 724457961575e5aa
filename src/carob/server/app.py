"""The web application: all routes behind the security checks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from carob.server.binding import Endpoint, to_route
from carob.server.login import login_routes
from carob.server.openapi import openapi_document
from carob.server.pages.page import error_page
from carob.server.pages.routes import page_routes
from carob.server.problems import RequestError, problem_response
from carob.server.routes import (
    about,
    datasets,
    golden,
    jobs,
    queues,
    runs,
    sessions,
    tokens,
    traces,
)
from carob.server.security import FindRoles, HostNames, LoginSessions, SecurityMiddleware
from carob.server.workspace import Workspace


def all_endpoints() -> list[Endpoint]:
    """Return every REST endpoint, in the order of the reference."""
    modules = (about, datasets, golden, traces, jobs, runs, sessions, queues, tokens)
    return [endpoint for module in modules for endpoint in module.endpoints.all]


def create_app(
    workspace: Workspace,
    *,
    hosts: HostNames,
    find_roles: FindRoles | None = None,
    routes: Sequence[BaseRoute] = (),
    with_rest: bool = True,
) -> Starlette:
    """Create the application. `hosts` are the names that it answers to."""
    endpoints = all_endpoints() if with_rest else []
    sessions = LoginSessions()

    @cache  # late: few ask for it, and it takes megabytes to make
    def document() -> bytes:
        return msgspec.json.encode(openapi_document(endpoints))

    async def openapi(_request: Request) -> Response:
        return Response(document(), media_type="application/json")

    app = Starlette(
        routes=[
            *(to_route(endpoint, workspace) for endpoint in endpoints),
            *routes,
            *(login_routes(sessions, find_roles) if with_rest and find_roles else ()),
            *(page_routes(workspace) if with_rest else ()),
        ],
        middleware=[
            Middleware(
                SecurityMiddleware,
                hosts=hosts,
                find_roles=find_roles,
                sessions=sessions,
            )
        ],
        exception_handlers={HTTPException: _http_error, Exception: _unexpected_error},
    )
    if with_rest:
        app.add_route("/api/openapi.json", openapi)
    return app


async def _http_error(request: Request, error: Exception) -> Response:
    """What Starlette refuses by itself: unknown addresses and methods."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    detail = error.detail
    if error.status_code == 404:
        detail = f"no such address: {request.url.path}"
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    refusal = RequestError(error.status_code, detail, headers=headers)
    return _refuse(refusal, request)


def _allowed_methods(request: Request) -> list[str]:
    """The methods of all routes at an address; Starlette names those of the first one only."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in route.methods or ()})


async def _unexpected_error(request: Request, error: Exception) -> Response:
    detail = f"unexpected {type(error).__name__}"
    return _refuse(RequestError(500, detail, hint="the server's log has the details"), request)


def _refuse(error: RequestError, request: Request) -> Response:
    wants_page = "text/html" in request.headers.get("accept", "")
    return error_page(error, request) if wants_page else problem_response(error)
