"""Log in and out: a browser exchanges a token for a cookie that scripts cannot read."""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from carob.report.markup import tag
from carob.server.pages.page import Page, error_page, read_fields, render
from carob.server.problems import RequestError
from carob.server.security import SESSION_COOKIE, FindRoles, LoginSessions, session_id


def login_routes(sessions: LoginSessions, find_roles: FindRoles) -> list[Route]:
    """Return the routes to log in and out."""

    async def show(_request: Request) -> Response:
        return render(_login_page())

    async def login(request: Request) -> Response:
        try:
            fields = await read_fields(request)
        except RequestError as error:
            return error_page(error)
        token = fields.get("token", "").strip()
        if not await to_thread.run_sync(find_roles, token):
            return render(_login_page("This token is unknown.", 401))
        response = RedirectResponse("/", status_code=303)
        # Behind a proxy the connection is plain; the page that asks says how it was reached.
        is_secure = request.headers.get("origin", "").startswith("https://")
        cookie = {"httponly": True, "samesite": "strict", "secure": is_secure}
        response.set_cookie(SESSION_COOKIE, sessions.start(token), **cookie)  # pyright: ignore[reportArgumentType]
        return response

    async def logout(request: Request) -> Response:
        try:
            await read_fields(request)
        except RequestError as error:
            return error_page(error)
        sessions.end(session_id(request.headers) or "")
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
        return response

    return [
        Route("/login", show, methods=["GET"]),
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


def _login_page(problem: str | None = None, status: int = 200) -> Page:
    token = tag("input", name="token", type="password", autocomplete="off", required=True)
    content = (
        tag("h1", "Log in"),
        tag("p", problem, role="alert") if problem else None,
        tag(
            "form",
            tag("p", tag("label", "Token ", token)),
            tag("p", tag("button", "Log in", type="submit")),
            method="post",
            action="/login",
        ),
        tag("p", "Make a token with ", tag("code", "carob serve token new NAME --role read"), "."),
    )
    return Page(title="Log in", content=content, status=status)
