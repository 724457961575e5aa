"""The page docs/reference/rest.md, generated from the endpoints of the server."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import msgspec

from carob.api.serving.run_jobs import JobRequest
from carob.server.app import all_endpoints
from carob.server.binding import Endpoint, Query
from carob.server.openapi import field_docs

_PLACES = {"path": "address", "query": "parameter", "body": "body"}
_NOTE = """\
Everything that `carob serve` offers to programs; `GET /api/openapi.json` is the same as OpenAPI
3.1, with every field of every document.

**Roles.** On loopback no token is needed. Elsewhere, pass one as `Authorization: Bearer …`; its
roles must include that of the route. `write` includes `read`.

**Parameters.** An unknown parameter or field is an error (400) that names it.

**Files** are sent as the raw body, named by `X-File-Name`, or as a form with the field `file`:
`curl -F file=@golden.json …`.

**Errors** are `application/problem+json` (RFC 9457) with `title`, `status`, `detail`, `hint` and
`problems`, each with `where`, `message`, `hint` and `severity`, as on the command line. 400
invalid request, 401 no token, 403 not allowed, 404 unknown name, 409 not possible in this state,
412 changed since it was read, 413 too large, 421 unknown host, 422 data that cannot be read, 428
`If-Match` is missing, 503 not ready (with `Retry-After` for exporters), 507 no room.

**Pages.** Lists have `items` and `next`; pass `next` as `after` to get the following page. Pages
stay stable while new items arrive.

**Editing.** A case or a draft comes with an `ETag`. Send it as `If-Match` with `PUT`, `DELETE`
and `release`; 412 means that somebody else was faster. `POST /api/runs` takes an
`Idempotency-Key`: the same key gives the same run, also after a restart, and 409 for another
request.

**Events.** `GET /api/events` is a stream of server-sent events: `session`, `run`, `dataset`,
`ingest` and `alert`. `Last-Event-ID`, or the parameter `after`, resumes it for ten minutes; after
that, `reset` says to read everything again. `GET /api/runs/{run}/events` follows one run:
`done` of `total` steps, the cases that are `passed`, `failed`, `unscored` or `errors` so far, and
the seconds left (`eta_s`).

**OTLP.** `POST /v1/traces`, `/v1/logs` and `/v1/metrics` (counted and refused) take OTLP/HTTP as
protobuf or JSON, plain or gzipped, at most 64 MiB, on the port for OTLP and on the main port;
OTLP/gRPC has a port of its own. A request that is answered with 200 is on disk, but for the
records that the answer counts as rejected: spans with invalid ids, and log records without a trace.
"""


def rest_lines() -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# REST\n"
    yield _NOTE
    yield "| route | role | |\n|---|---|---|"
    for endpoint in all_endpoints():
        link = f"[`{endpoint.method} {_plain_path(endpoint)}`](#{_anchor(endpoint)})"
        yield f"| {link} | {endpoint.role} | {endpoint.summary} |"
    for endpoint in all_endpoints():
        yield f"\n## {endpoint.method} {_plain_path(endpoint)} {{ #{_anchor(endpoint)} }}\n"
        yield f"{endpoint.summary} Role: {endpoint.role}."
        yield from _rest_fields(endpoint)


def _anchor(endpoint: Endpoint) -> str:
    return endpoint.name.replace("_", "-")


def _plain_path(endpoint: Endpoint) -> str:
    return endpoint.path.replace(":path}", "}")


def _rest_fields(endpoint: Endpoint) -> Iterator[str]:
    kinds = {place: endpoint.types[place] for place in _PLACES if place in endpoint.types}
    own = {place: kind for place, kind in kinds.items() if _is_request(kind)}
    if own:
        yield "\n| field | in | |\n|---|---|---|"
    for place, kind in own.items():
        yield from _field_rows(place, kind)
    for kind in (kind for place, kind in kinds.items() if place not in own):
        yield f"\nBody: `{kind.__name__}`."
    if "upload" in endpoint.types:
        yield "\nBody: a file."
    result = endpoint.result
    if isinstance(result, type) and issubclass(result, msgspec.Struct):
        first = (inspect.getdoc(result) or "").partition("\n\n")[0].replace("\n", " ")
        yield f"\nReturns `{result.__name__}`: {first[:1].lower()}{first[1:]}"


def _field_rows(place: str, kind: type[msgspec.Struct]) -> Iterator[str]:
    texts = field_docs(kind)
    for field in msgspec.structs.fields(kind):
        is_required = field.required and place != "path"
        where = f"{_PLACES[place]}, required" if is_required else _PLACES[place]
        text = texts.get(field.name, "").replace("|", "\\|")
        yield f"| `{field.encode_name}` | {where} | {text} |"


def _is_request(kind: object) -> bool:
    """Whether a type is made for one route, so that its fields belong on this page."""
    return isinstance(kind, type) and (issubclass(kind, Query) or kind is JobRequest)
