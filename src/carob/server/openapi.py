"""The OpenAPI document, generated from the endpoints' types and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec

from carob import __version__
from carob.server.binding import Endpoint
from carob.server.problems import ProblemDetails
from carob.server.uploads import Upload

_REF = "#/components/schemas/{name}"


def openapi_document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of some endpoints."""
    types = [ProblemDetails, *_body_types(endpoints)]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    by_type = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, by_type)
        path = endpoint.path.replace(":path}", "}")
        paths.setdefault(path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Carob", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": _SECURITY},
        "security": [{}, {"token": []}],
    }


_DESCRIPTION = "Measures AI agents against golden data."
_SECURITY = {"token": {"type": "http", "scheme": "bearer"}}


def _body_types(endpoints: Iterable[Endpoint]) -> list[Any]:
    """The types of bodies and results, each once, in the order of the endpoints."""
    found: dict[str, Any] = {}
    for endpoint in endpoints:
        for kind in (endpoint.types.get("body"), endpoint.result):
            if _is_document(kind):
                found[repr(kind)] = kind
    return list(found.values())


def _is_document(kind: Any) -> bool:
    """Whether JSON of this type is part of the contract; a `Response` is something else."""
    return kind is not None and kind is not type(None) and not _is_response(kind)


def _is_response(kind: Any) -> bool:
    return inspect.isclass(kind) and kind.__module__.partition(".")[0] == "starlette"


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.path.split("/")[2]],
        "responses": _responses(endpoint, schemas),
    }
    if parameters := [*_parameters(endpoint, "path"), *_parameters(endpoint, "query")]:
        operation["parameters"] = parameters
    if body := _request_body(endpoint, schemas):
        operation["requestBody"] = body
    return operation


@cache
def field_docs(kind: type) -> dict[str, str]:
    """Return the texts below the fields of a struct, which Python itself forgets."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except OSError:  # installed without sources
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    texts: dict[str, str] = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    texts[field.target.id] = " ".join(text.split())
                case _:
                    pass
    return texts


def _parameters(endpoint: Endpoint, place: str) -> list[dict[str, Any]]:
    kind = endpoint.types.get(place)
    if kind is None:
        return []
    schema = msgspec.json.schema(kind)
    schema = schema["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    required = set(schema.get("required", ()))
    texts = field_docs(kind)
    return [
        {
            "name": name,
            "in": place,
            "required": place == "path" or name in required,
            "schema": _without_null(field),
            **({"description": texts[name]} if name in texts else {}),
        }
        for name, field in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter cannot be null; it is left out."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return {**rest, **kinds[0]}
    return schema


def _request_body(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any] | None:
    if endpoint.types.get("upload") is Upload:
        file = {"type": "string", "format": "binary"}
        form = {"type": "object", "properties": {"file": file}, "required": ["file"]}
        content = {"multipart/form-data": {"schema": form}}
        return {"required": True, "content": content}
    body = endpoint.types.get("body")
    if body is None:
        return None
    content = {"application/json": {"schema": schemas[repr(body)]}}
    return {"required": True, "content": content}


def _responses(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    problem = {"application/problem+json": {"schema": schemas[repr(ProblemDetails)]}}
    failure = {"description": "The request could not be carried out.", "content": problem}
    kind = endpoint.result
    if not _is_document(kind):
        success = {"description": "Success"}
    else:
        content = {"application/json": {"schema": schemas[repr(kind)]}}
        success = {"description": _first_sentence(kind), "content": content}
    status = "2XX" if _is_document(kind) else "default"
    return {status: success, "4XX": failure, "5XX": failure}


def _first_sentence(kind: Any) -> str:
    text = inspect.getdoc(kind) if inspect.isclass(kind) else None
    return re.split(r"(?<=\.)\s", text)[0] if text else "Success"
