"""Attribute values in all their wrappings → a flat dict of plain JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from carob.schema import Json
from carob.traces.shape import count, decode_structure, first, rows, table, tables

_WRAPPED_JSON = frozenset(
    {"metadata", "tool.parameters", "llm.prompt_template.variables", "llm.invocation_parameters"}
)


def plain(value: Json) -> Json:
    """What an OTLP `AnyValue` holds; `{}` is null, and what is no `AnyValue` stays as it is."""
    if not isinstance(value, dict):
        return value
    if not value:
        return None
    if value.keys() == {"Type", "Value"}:  # Go's console exporter
        return value["Value"]
    for key, held in value.items():
        unwrap = _UNWRAP.get(key)
        if unwrap is not None:
            return unwrap(held)
    return value


def attributes(value: Json) -> dict[str, Json]:
    """The attributes of a list of key/value pairs, of an object, or of JSON in a string."""
    value = decode_structure(value)
    if isinstance(value, dict):
        return {key: _wrapped(held) for key, held in value.items()}
    return {
        key: plain(first(pair, "value", "Value")) for pair in tables(value) if (key := _key(pair))
    }


def _key(pair: dict[str, Json]) -> str:
    key = first(pair, "key", "Key")
    return key if isinstance(key, str) else ""


def _wrapped(value: Json) -> Json:
    return plain(value) if isinstance(value, dict) and len(value) == 1 else value


def _integer(value: Json) -> Json:
    found = count(value)
    return value if found is None else found


def _double(value: Json) -> Json:
    """A number; protobuf spells NaN and the infinities as text, and JSON has none of them."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return number if isfinite(number) else None


def _same(value: Json) -> Json:
    return value


def _values(value: Json) -> Json:
    return [plain(item) for item in rows(table(value).get("values"))]


def _pairs(value: Json) -> Json:
    return attributes(table(value).get("values"))


_SPELLINGS: dict[str, Callable[[Json], Json]] = {
    "string_value": _same,
    "int_value": _integer,
    "double_value": _double,
    "bool_value": _same,
    "array_value": _values,
    "kvlist_value": _pairs,
    "bytes_value": _same,
}
_UNWRAP = {
    spelling: unwrap
    for name, unwrap in _SPELLINGS.items()
    for spelling in (name, name.replace("_v", "V"))
}


def unnested(value: dict[str, Json]) -> dict[str, Json]:
    """Nested attributes under dotted keys: `{"llm": {"x": [{"y": 1}]}}` → `{"llm.x.0.y": 1}`."""
    flat: dict[str, Json] = {}
    pending = list(_children("", value))[::-1]
    while pending:
        key, held = pending.pop()
        children = [] if key in _WRAPPED_JSON else list(_children(key, held))
        if children:
            pending.extend(children[::-1])
        elif held is not None:
            flat[key] = held
    return flat


def _children(prefix: str, value: Json) -> Iterator[tuple[str, Json]]:
    dot = f"{prefix}." if prefix else ""
    if isinstance(value, dict):
        yield from ((f"{dot}{key}", held) for key, held in value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from ((f"{dot}{index}", held) for index, held in enumerate(value))


def resource(item: Json) -> dict[str, Json]:
    """The attributes of a resource, whether they stand under `attributes` or bare."""
    item = decode_structure(item)
    held = first(table(item), "attributes", "Attributes")
    return attributes(item if held is None else held)
