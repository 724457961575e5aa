"""Bind routes to plain functions: what a handler asks for by name and type is read from the
request, checked, and handed to it.

    @get("/api/runs/{run}/cases")
    def run_cases(workspace: Workspace, path: RunPath, query: CaseQuery) -> CasePage: ...

| parameter   | is                                                                       |
|-------------|--------------------------------------------------------------------------|
| `workspace` | what this server serves                                                  |
| `path`      | a struct of the parts of the address in braces                           |
| `query`     | a struct of the query parameters; an unknown one is an error             |
| `body`      | a struct of the JSON body; an unknown field is an error                  |
| `upload`    | an uploaded file, raw or as multipart                                    |
| `request`   | the request itself, for headers                                          |

Handlers block, so each call runs in a thread.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import (
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from carob.errors import CarobError
from carob.report import stream_items
from carob.schema import Problem
from carob.schema.base import Struct, prepare_type
from carob.server.problems import RequestError, problem_response, system_error
from carob.server.uploads import Upload, receive_body, receive_upload
from carob.server.workspace import Workspace

Role: TypeAlias = Literal["none", "read", "write", "ingest"]
"""What a token must allow; `none` is open to everyone who can reach the server."""
Handler: TypeAlias = Callable[..., object]
H = TypeVar("H", bound=Handler)
T = TypeVar("T")

_SOURCES = frozenset(("workspace", "path", "query", "body", "upload", "request"))
_BODY_LIMIT = 16 * 2**20


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base class of query parameters and JSON bodies."""


class WholeList(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Base class of lists that have one page."""

    next: None = None
    """Where the next page starts: there is none."""
    total: int
    """How many there are."""


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A result with a status or headers of its own."""

    content: T
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Endpoint:
    """A route and the function behind it."""

    method: str
    path: str
    handler: Handler
    role: Role
    types: Mapping[str, Any]
    """The types of the handler's parameters, and of its result under `return`."""

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def result(self) -> Any:
        """The type of the document that the handler returns."""
        kind = self.types.get("return")
        return get_args(kind)[0] if get_origin(kind) is Reply else kind

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.handler) or "").partition("\n\n")[0].replace("\n", " ")


class Endpoints:
    """The endpoints of one module, collected by decorators."""

    def __init__(self) -> None:
        self.all: list[Endpoint] = []

    def get(self, path: str, role: Role = "read") -> Callable[[H], H]:
        return self._add("GET", path, role)

    def post(self, path: str, role: Role = "write") -> Callable[[H], H]:
        return self._add("POST", path, role)

    def put(self, path: str, role: Role = "write") -> Callable[[H], H]:
        return self._add("PUT", path, role)

    def delete(self, path: str, role: Role = "write") -> Callable[[H], H]:
        return self._add("DELETE", path, role)

    def _add(self, method: str, path: str, role: Role) -> Callable[[H], H]:
        def add(handler: H) -> H:
            types = get_type_hints(handler)
            unknown = types.keys() - _SOURCES - {"return"}
            if unknown:
                raise TypeError(f"{handler.__name__} asks for {sorted(unknown)}")
            self.all.append(Endpoint(method, path, handler, role, types))
            return handler

        return add


def to_route(endpoint: Endpoint, workspace: Workspace) -> Route:
    """Return the Starlette route of an endpoint."""

    async def answer(request: Request, upload: Upload | None) -> Response:
        try:
            arguments = await _arguments(endpoint, workspace, request, upload)
            # In a thread: in the loop, a handler that reads a database would hold up all other
            # requests, those of exporters first of all.
            result = await to_thread.run_sync(lambda: endpoint.handler(**arguments))
            return to_response(result)
        except (CarobError, RequestError) as error:
            return problem_response(error, hide=workspace.hide_store)
        except OSError as error:  # of a temporary file
            return problem_response(system_error(error))

    async def respond(request: Request) -> Response:
        try:
            check_role(request, endpoint.role)
            if "upload" not in endpoint.types:
                return await answer(request, None)
            upload = await receive_upload(request)
            try:
                return _without_path(await answer(request, upload), upload)
            finally:
                upload.remove()
        except RequestError as error:
            return problem_response(error)
        except ClientDisconnect:
            return Response(status_code=400)

    return Route(endpoint.path, respond, methods=[endpoint.method], name=endpoint.name)


def _without_path(response: Response, upload: Upload) -> Response:
    headers = {key: value for key, value in response.headers.items() if key != "content-length"}
    return Response(upload.hide_path(bytes(response.body)), response.status_code, headers)


def check_role(request: Request, role: Role) -> None:
    """Raise `RequestError` unless the caller may do this."""
    if role == "none" or role in request.state.roles:
        return
    if request.state.roles:
        raise RequestError(403, f"this token does not allow to {role}")
    challenge = {"WWW-Authenticate": "Bearer"}
    hint = "pass a token as `Authorization: Bearer …`; `carob serve token new` makes one"
    raise RequestError(401, "a token is required", hint=hint, headers=challenge)


def to_response(result: object) -> Response:
    """Return the response for what a handler returned."""
    if isinstance(result, Response):
        return result
    reply = cast("Reply[object]", result) if isinstance(result, Reply) else Reply(result)
    if reply.content is None:
        return Response(status_code=204 if reply.status == 200 else reply.status)
    # A reply is small or paged; the listing of an uploaded file may be a stream.
    body = msgspec.json.encode(reply.content, enc_hook=lambda value: list(stream_items(value)))
    return Response(body, reply.status, reply.headers, media_type="application/json")


def to_download(data: bytes, name: str) -> Response:
    """Return a file to save under a name, whatever a browser takes its content for."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    headers = {"content-disposition": f'attachment; filename="{plain}"'}
    return Response(data, headers=headers, media_type="application/octet-stream")


async def _arguments(
    endpoint: Endpoint, workspace: Workspace, request: Request, upload: Upload | None
) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, kind in endpoint.types.items():
        match name:
            case "workspace":
                arguments[name] = workspace
            case "request":
                arguments[name] = request
            case "upload":
                arguments[name] = upload
            case "path":
                arguments[name] = _convert(dict(request.path_params), kind, 404)
            case "query":
                arguments[name] = parse_query(request, kind)
            case "body":
                arguments[name] = _decode(await receive_body(request, _BODY_LIMIT), kind)
            case _:
                continue
    if "query" not in endpoint.types and request.query_params:
        name = next(iter(request.query_params))
        raise RequestError(400, f"unknown parameter {name!r}", hint="it takes no parameters")
    return arguments


def parse_query(request: Request, kind: type[T]) -> T:
    """Read the query parameters into a struct."""
    lists = {
        info.encode_name
        for info in msgspec.structs.fields(kind)  # pyright: ignore[reportArgumentType]
        if get_origin(info.type) in (tuple, list)
    }
    values: dict[str, str | list[str]] = {}
    for name in request.query_params:
        given = request.query_params.getlist(name)
        if name not in lists and len(given) > 1:
            raise RequestError(400, f"parameter {name!r} is given {len(given)} times")
        values[name] = given if name in lists else given[0]
    return _convert(values, kind, 400)


def _convert(values: Mapping[str, object], kind: type[T], status: int) -> T:
    try:
        return msgspec.convert(values, prepare_type(kind), strict=False)
    except msgspec.ValidationError as error:
        raise _invalid(error, status) from error


def _decode(data: bytes, kind: type[T]) -> T:
    try:
        body = msgspec.json.decode(data, type=prepare_type(kind))
        unknown = _find_unknown(msgspec.json.decode(data), body, "$")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(error, 400) from error
    if unknown:
        raise _invalid(ValueError(unknown), 400)
    return body


def _find_unknown(found: Any, read: Any, path: str) -> str | None:
    """Name a field that the struct which was read from it does not have. Structs of files ignore
    such fields, because formats preserve them; of a request they would be lost."""
    if isinstance(read, msgspec.Struct) and isinstance(found, dict):
        fields = dict(zip(read.__struct_encode_fields__, read.__struct_fields__, strict=True))
        members = cast("dict[str, Any]", found)
        unknown = next((name for name in members if name not in fields), None)
        if unknown is not None:
            return f"Object contains unknown field `{unknown}` - at `{path}`"
        inner = ((f"{path}.{name}", members[name], getattr(read, fields[name])) for name in members)
    elif isinstance(read, tuple) and isinstance(found, list):
        pairs = zip(cast("list[Any]", found), cast("tuple[Any, ...]", read), strict=False)
        inner = ((f"{path}[{index}]", *pair) for index, pair in enumerate(pairs))
    else:
        return None
    return next(filter(None, (_find_unknown(value, own, at) for at, value, own in inner)), None)


def _invalid(error: Exception, status: int) -> RequestError:
    message, _, where = str(error).partition(" - at ")
    problem = Problem(where=where.strip("`") or "request", message=message)
    return RequestError(status, str(error), problems=[problem])
