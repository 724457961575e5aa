"""The shape of an answer, as a model is told it: a JSON Schema that leaves nothing open."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import msgspec

from carob.schema import Json

Schema = dict[str, Json]
_UNSAID = ("title", "default", "$defs")
_PREFIX = "#/$defs/"


@lru_cache(maxsize=256)
def schema_of(answer: type[msgspec.Struct]) -> Schema:
    """The schema without references: every property is required, and there are no others."""
    found = msgspec.json.schema(answer)
    return cast("Schema", _closed(found, found.get("$defs", {})))


def _closed(node: Any, names: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_closed(one, names) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    node = cast("dict[str, Any]", node)
    if "$ref" in node:
        return _closed(names[node["$ref"].removeprefix(_PREFIX)], names)
    made = {key: _closed(value, names) for key, value in node.items() if key not in _UNSAID}
    return _object(made, node, names) if made.get("type") == "object" else _typed(made)


def _object(made: dict[str, Any], node: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    if "properties" not in node:
        return made
    # By name again: a property may be called `title` or `default`.
    fields = {name: _closed(value, names) for name, value in node["properties"].items()}
    made["properties"] = fields
    made["required"] = list(fields)
    made["additionalProperties"] = False
    return made


def _typed(made: dict[str, Any]) -> dict[str, Any]:
    """Some providers want to be told that a list of words is one of texts."""
    values = made.get("enum", ())
    for kind, name in ((str, "string"), (int, "integer")):
        if values and all(type(one) is kind for one in values):
            return {"type": name, **made}
    return made


def open_end(value: Json, schema: Schema, where: str = "$") -> str | None:
    """Where an answer has a field too many or too few. What a type has a default for must be
    answered all the same: nobody is to take a default for an answer."""
    if isinstance(value, list):
        items = cast("Schema", schema.get("items") or {})
        found = (open_end(one, items, f"{where}[{place}]") for place, one in enumerate(value))
        return next((one for one in found if one), None)
    if not isinstance(value, dict) or "properties" not in schema:
        return None
    fields = cast("dict[str, Schema]", schema["properties"])
    for name in fields:
        if name not in value:
            return f"the field `{name}` is missing - at `{where}`"
    for name in value:
        if name not in fields:
            return f"there is no field {name[:40]!r} - at `{where}`"
    inner = (open_end(value[name], fields[name], f"{where}.{name}") for name in fields)
    return next((one for one in inner if one), None)
