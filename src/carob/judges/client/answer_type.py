"""Answer types: their JSON Schema, and the values that a field of an answer may have."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor
from typing import Any, cast

import msgspec
from msgspec import inspect

from carob.schema import Json

Schema = dict[str, Json]
MAX_VALUES = 200
"""A field with more values than this is a measurement, not a choice."""
_OMITTED = ("title", "default", "$defs")
_PREFIX = "#/$defs/"


@lru_cache(maxsize=256)
def answer_schema(answer: type[msgspec.Struct]) -> Schema:
    """Return the JSON Schema of an answer type: closed, without references, every property
    required, as providers demand for strict structured output."""
    schema = msgspec.json.schema(answer)
    return cast("Schema", _close(schema, schema.get("$defs", {})))


def _close(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_close(item, definitions) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    node = cast("dict[str, Any]", node)
    if "$ref" in node:
        return _close(definitions[node["$ref"].removeprefix(_PREFIX)], definitions)
    closed = {key: _close(value, definitions) for key, value in node.items() if key not in _OMITTED}
    if closed.get("type") == "object":
        return _close_object(closed, node, definitions)
    return _with_type(closed)


def _close_object(
    closed: dict[str, Any], node: dict[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    if "properties" not in node:
        return closed
    # Read from the original node again: `_close` dropped properties named `title` or `default`.
    fields = {name: _close(value, definitions) for name, value in node["properties"].items()}
    closed["properties"] = fields
    closed["required"] = list(fields)
    closed["additionalProperties"] = False
    return closed


def _with_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Add the `type` of an enum, which some providers require."""
    values = schema.get("enum", ())
    for kind, name in ((str, "string"), (int, "integer")):
        if values and all(type(value) is kind for value in values):
            return {"type": name, **schema}
    return schema


def find_mismatch(value: Json, schema: Schema, where: str = "$") -> str | None:
    """Describe the first missing or unknown field of an answer.

    msgspec accepts an answer that omits a field with a default. Here every field is required, so
    that no default is mistaken for an answer.
    """
    if isinstance(value, list):
        items = cast("Schema", schema.get("items") or {})
        problems = (
            find_mismatch(item, items, f"{where}[{index}]") for index, item in enumerate(value)
        )
        return next((problem for problem in problems if problem), None)
    if not isinstance(value, dict) or "properties" not in schema:
        return None
    fields = cast("dict[str, Schema]", schema["properties"])
    for name in fields:
        if name not in value:
            return f"missing field `{name}` - at `{where}`"
    for name in value:
        if name not in fields:
            return f"unknown field {name[:40]!r} - at `{where}`"
    nested = (find_mismatch(value[name], fields[name], f"{where}.{name}") for name in fields)
    return next((problem for problem in nested if problem), None)


@lru_cache(maxsize=256)
def list_values(answer: type[msgspec.Struct], field: str) -> tuple[str, ...]:
    """Return the values that a field may have, as JSON text without quotes; empty if there are
    too many to list."""
    kind = _field_type(answer, field)
    return () if kind is None else _values(kind)


@lru_cache(maxsize=256)
def choice_words(answer: type[msgspec.Struct], field: str | None) -> tuple[str, ...]:
    """Return the words of a field if the answer can be reduced to them: every other field must be
    a text, which can be left empty."""
    kind = _field_type(answer, field) if field else None
    if not isinstance(kind, inspect.LiteralType):
        return ()
    words = tuple(value for value in kind.values if isinstance(value, str) and value.strip())
    remaining = [info.type for info in _fields(answer) if info.encode_name != field]
    only_texts = all(other_kind == inspect.StrType() for other_kind in remaining)
    return words if only_texts and len(words) == len(kind.values) else ()


def _fields(answer: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(answer)
    return info.fields if isinstance(info, inspect.StructType) else ()


def _field_type(answer: type[msgspec.Struct], name: str) -> inspect.Type | None:
    return next((field.type for field in _fields(answer) if field.encode_name == name), None)


def _values(kind: inspect.Type) -> tuple[str, ...]:
    if isinstance(kind, inspect.UnionType):
        parts = [_values(part) for part in kind.types]
        return tuple(value for part in parts for value in part) if all(parts) else ()
    if isinstance(kind, inspect.LiteralType):
        return tuple(_json_text(value) for value in kind.values)
    if isinstance(kind, inspect.BoolType):
        return ("true", "false")
    if isinstance(kind, inspect.NoneType):
        return ("null",)
    return _integers(kind) if isinstance(kind, inspect.IntType) else ()


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _integers(kind: inspect.IntType) -> tuple[str, ...]:
    low = kind.ge if kind.ge is not None else None if kind.gt is None else floor(kind.gt) + 1
    high = kind.le if kind.le is not None else None if kind.lt is None else ceil(kind.lt) - 1
    if low is None or high is None or high - low >= MAX_VALUES:
        return ()
    step = kind.multiple_of or 1
    return tuple(str(value) for value in range(ceil(low), floor(high) + 1) if value % step == 0)
