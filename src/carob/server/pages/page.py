"""What a page is, how its address is read, and how errors become pages."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar, get_origin, get_type_hints
from urllib.parse import quote

import msgspec
from anyio import to_thread
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from carob.api.review import count_waiting
from carob.api.serving.sessions import count_open_sessions
from carob.errors import CarobError
from carob.report.markup import Child, Markup, join, tag
from carob.schema.base import prepare_type
from carob.server.binding import check_role, parse_query
from carob.server.pages.layout import document
from carob.server.pages.texts import inline_code
from carob.server.problems import RequestError, problem_status
from carob.server.security import SESSION_COOKIE, check_form_token, form_token
from carob.server.uploads import Upload, receive_upload
from carob.server.workspace import Workspace

H = TypeVar("H", bound=Callable[..., object])
_FORM_LIMIT = 4 * 2**20
_FORM_FIELDS = 20_000
_SECRET_FIELD = "form_token"  # noqa: S105 - the name of a field
_FORM = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')
_HTML = "text/html; charset=utf-8"
THEME_COOKIE = "carob_theme"
_TITLES = {
    400: "This address does not work",
    401: "Log in to see this page",
    403: "This is not allowed",
    404: "There is nothing here",
    409: "This is not possible now",
    412: "Somebody else has changed this",
    413: "This is too large",
    422: "This cannot be done",
    500: "Something went wrong",
    503: "The server is busy",
    507: "The disk is full",
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """The content of a page."""

    title: str
    content: Child
    section: str = ""
    """The entry of the navigation that it belongs to."""
    crumbs: tuple[tuple[str, str], ...] = ()
    """Name and address of the pages above it."""
    command: tuple[str, ...] | None = None
    """The arguments of the `carob` command that prints the same. They may come from agents, and
    people paste them into a shell: the page quotes them."""
    keys: tuple[tuple[str, str], ...] = ()
    """Keys of this page, and what they do."""
    status: int = 200


@dataclass(frozen=True)
class Redirect:
    """The answer to a form: the address where its result can be seen."""

    address: str


@dataclass(frozen=True)
class Fragment:
    """A part of a page, for scripts that put it into the page."""

    content: Child
    command: tuple[str, ...] | None = None
    """The arguments of the `carob` command that prints the page with this part."""


class Pages:
    """The pages of one module, collected by decorators."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str, Callable[..., object]]] = []

    def get(self, path: str) -> Callable[[H], H]:
        return self._add("GET", path)

    def post(self, path: str) -> Callable[[H], H]:
        return self._add("POST", path)

    def _add(self, method: str, path: str) -> Callable[[H], H]:
        def add(handler: H) -> H:
            self.all.append((method, path, handler))
            return handler

        return add


def to_page_route(
    method: str, path: str, handler: Callable[..., object], workspace: Workspace
) -> Route:
    """Return the route of a page. What a handler asks for by name is read from the request:
    `workspace`, `path`, `query`, and of a posted form `form` or `upload`."""
    types = get_type_hints(handler)

    async def respond(request: Request) -> Response:
        upload: Upload | None = None
        try:
            check_role(request, "read" if method == "GET" else "write")
            arguments = _arguments(request, types, workspace)
            if "upload" in types:
                upload = arguments["upload"] = await receive_upload(request)
                check_form_token(upload.form_token)
            elif method == "POST":
                fields = await _read_values(request, types.get("form"))
                if "form" in types:
                    arguments["form"] = _to_form(fields, types["form"])
            result = await to_thread.run_sync(lambda: _handle(handler, arguments, workspace))
        except (CarobError, RequestError) as error:
            return error_page(error, request, upload)
        finally:
            if upload:
                upload.remove()
        return _respond(result, request)

    return Route(path, respond, methods=[method])


def _arguments(request: Request, types: Mapping[str, Any], workspace: Workspace) -> dict[str, Any]:
    arguments: dict[str, Any] = {"workspace": workspace} if "workspace" in types else {}
    if "path" in types:
        arguments["path"] = msgspec.convert(dict(request.path_params), prepare_type(types["path"]))
    if "query" in types:
        arguments["query"] = parse_query(_without_blanks(request), types["query"])
    return arguments


def _handle(
    handler: Callable[..., object], arguments: dict[str, Any], workspace: Workspace
) -> tuple[object, Mapping[str, int]]:
    """Call a handler, and count what the navigation shows."""
    result = handler(**arguments)
    if not isinstance(result, Page):
        return result, {}
    waiting = count_waiting(store=workspace.store)
    return result, {"Review": waiting, "Live": count_open_sessions(workspace.store)}


def _respond(result: tuple[object, Mapping[str, int]], request: Request) -> Response:
    content, counts = result
    if isinstance(content, Redirect):
        return RedirectResponse(content.address, status_code=303)
    if isinstance(content, Fragment):
        return Response(_with_tokens(_fragment(content)), media_type=_HTML)
    assert isinstance(content, Page)  # noqa: S101 - handlers return nothing else
    return render(content, counts, request, read_only="write" not in request.state.roles)


def _fragment(fragment: Fragment) -> str:
    content = join(fragment.content)
    if fragment.command is None:
        return content
    return tag("body", content, data_command=_quote(fragment.command))


def _quote(command: Sequence[str]) -> str:
    return shlex.join(("carob", *command))


def _without_blanks(request: Request) -> Request:
    """Forms without scripts send a parameter for each empty field; leave those out."""
    pairs = [(key, value) for key, value in request.query_params.multi_items() if value]
    query = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
    return Request({**request.scope, "query_string": query.encode()})


async def read_fields(request: Request) -> dict[str, str]:
    """Read a posted form. Raises `RequestError` unless it comes from one of our pages."""
    values = await _read_values(request, None)
    return {name: value for name, value in values.items() if isinstance(value, str)}


async def _read_values(request: Request, kind: type[Any] | None) -> dict[str, str | list[str]]:
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > _FORM_LIMIT:
        raise RequestError(413, "the form is too large")
    async with request.form(max_files=0, max_fields=_FORM_FIELDS) as fields:
        values = _form_values(fields, kind)
    check_form_token(str(values.pop(_SECRET_FIELD, "")))
    return values


def _to_form(values: Mapping[str, str | list[str]], kind: type[Any]) -> Any:
    try:
        return msgspec.convert(values, prepare_type(kind), strict=False)
    except msgspec.ValidationError as error:
        raise RequestError(400, str(error)) from error


def _form_values(fields: FormData, kind: type[Any] | None) -> dict[str, str | list[str]]:
    known = msgspec.structs.fields(kind) if kind else ()
    lists = {field.encode_name for field in known if get_origin(field.type) is tuple}
    values: dict[str, str | list[str]] = {}
    for name, value in fields.multi_items():
        if not isinstance(value, str):
            continue
        if name in lists:
            values[name] = [*values.get(name, ()), value]
        else:
            values[name] = value.replace("\r\n", "\n")  # as browsers send line breaks
    return values


def render(
    page: Page,
    counts: Mapping[str, int] | None = None,
    request: Request | None = None,
    *,
    read_only: bool = False,
) -> Response:
    """Return the response of a page, in the theme that the browser has chosen. With `read_only`,
    what would be refused is not shown."""
    cookies = request.cookies if request else {}
    theme = cookies.get(THEME_COOKIE)
    text = document(
        title=page.title,
        content=join(page.content),
        section=page.section,
        crumbs=page.crumbs,
        command=_quote(page.command) if page.command else None,
        keys=page.keys,
        counts=counts or {},
        theme=theme if theme in ("light", "dark") else None,
        read_only=read_only,
        logged_in=SESSION_COOKIE in cookies,
    )
    return Response(_with_tokens(text), page.status, media_type=_HTML)


def _with_tokens(text: str) -> str:
    """Put the token into every form that changes something, here so that no page can forget it.
    Texts of agents are escaped, so that what looks like a form is one of ours."""
    field = tag("input", type="hidden", name=_SECRET_FIELD, value=form_token.get())
    return _FORM.sub(lambda form: form[0] + str(field), text)


def error_page(
    error: CarobError | RequestError, request: Request, upload: Upload | None = None
) -> Response:
    """Say as a page what could not be done, and what helps."""
    status = error.status if isinstance(error, RequestError) else problem_status(error)
    detail = error.detail if isinstance(error, RequestError) else error.message
    if upload:
        detail = detail.replace(str(upload.path), upload.name)
    title = _TITLES.get(status, HTTPStatus(status).phrase.capitalize())
    # Without a token, people log in; the hint is for programs.
    hint = error.hint if status != 401 else None
    back = quote(f"{request.url.path}?{request.url.query}".removesuffix("?"), safe="/")
    login = tag("a", "Log in", href=f"/login?next={back}", class_="button gold")
    content: list[Markup | None] = [
        tag("h1", title),
        tag("p", _sentence(detail), class_="lead", dir="auto"),
        tag("p", tag("strong", "Hint: "), inline_code(hint)) if hint else None,
        tag("p", login) if status == 401 else None,
        tag("p", tag("a", "Home", href="/"), " · ", tag("a", "All runs", href="/runs")),
        tag("p", f"HTTP {status}", class_="quiet"),
    ]
    response = render(Page(title=title, content=content, status=status), None, request)
    headers: Mapping[str, str] = error.headers if isinstance(error, RequestError) else {}
    response.headers.update(headers)
    return response


def _sentence(message: str) -> str:
    """Return the message of an error as a sentence, unless it starts with a name."""
    first = message.partition(" ")[0]
    start = message[:1].upper() if first.isalpha() else message[:1]
    return f"{start}{message[1:]}{'' if message.endswith(('.', '…', ':')) else '.'}"
