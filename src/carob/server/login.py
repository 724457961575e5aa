"""Log in and out: a browser exchanges a token for a cookie that scripts cannot read."""

from __future__ import annotations

import re

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from carob.report.markup import tag
from carob.server.pages.page import Page, error_page, read_fields, render
from carob.server.pages.parts import commands
from carob.server.problems import RequestError
from carob.server.security import SESSION_COOKIE, FindRoles, LoginSessions, session_id

_OWN = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path, without what browsers would read as another host or another header."""


def login_routes(sessions: LoginSessions, find_roles: FindRoles) -> list[Route]:
    """Return the routes to log in and out."""

    async def show(request: Request) -> Response:
        following = request.query_params.get("next", "/")
        return render(_login_page(following), None, request)

    async def login(request: Request) -> Response:
        try:
            fields = await read_fields(request)
        except RequestError as error:
            return error_page(error, request)
        token, following = fields.get("token", "").strip(), fields.get("next", "/")
        if not await to_thread.run_sync(find_roles, token):
            return render(_login_page(following, "This token is unknown.", 401), None, request)
        response = RedirectResponse(_own_address(following), status_code=303)
        # Behind a proxy the connection is plain; the page that asks says how it was reached.
        is_secure = request.headers.get("origin", "").startswith("https://")
        cookie = {"httponly": True, "samesite": "strict", "secure": is_secure}
        response.set_cookie(SESSION_COOKIE, sessions.start(token), **cookie)  # pyright: ignore[reportArgumentType]
        return response

    async def logout(request: Request) -> Response:
        try:
            await read_fields(request)
        except RequestError as error:
            return error_page(error, request)
        sessions.end(session_id(request.headers) or "")
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
        return response

    return [
        Route("/login", show, methods=["GET"]),
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


def _own_address(address: str) -> str:
    """Return an address of this server, and home for any other."""
    return address if _OWN.fullmatch(address) else "/"


def _login_page(following: str, problem: str | None = None, status: int = 200) -> Page:
    token = tag(
        "input",
        name="token",
        type="password",
        autocomplete="off",
        required=True,
        autofocus=True,
        aria_describedby="problem" if problem else None,
    )
    content = (
        tag("h1", "Log in"),
        tag("p", problem, role="alert", class_="failed", id="problem") if problem else None,
        tag(
            "form",
            tag("input", type="hidden", name="next", value=_own_address(following)),
            tag("label", tag("span", "token"), token),
            tag("button", "Log in", type="submit", class_="gold"),
            method="post",
            action="/login",
            class_="filters",
        ),
        tag("p", "Make a token where the server runs:", class_="quiet"),
        commands("carob serve token new NAME --role read"),
    )
    return Page(title="Log in", content=content, status=status)
