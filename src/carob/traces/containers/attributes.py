"""Unwrap attribute values into a flat dict of plain JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from carob.schema import Json
from carob.traces.shape import (
    as_array,
    as_count,
    as_object,
    decode_structure,
    first_value,
    objects_in,
)

_WRAPPED_JSON = frozenset(
    {"metadata", "tool.parameters", "llm.prompt_template.variables", "llm.invocation_parameters"}
)


def plain(value: Json) -> Json:
    """The value inside an OTLP `AnyValue`; `{}` is null. Other values are returned as they are."""
    if not isinstance(value, dict):
        return value
    if not value:
        return None
    if value.keys() == {"Type", "Value"}:  # Go's console exporter
        return value["Value"]
    wraps_null = False
    for key, inner in value.items():
        unwrap = _UNWRAP.get(key)
        if unwrap is not None and inner is not None:
            return unwrap(inner)
        wraps_null = wraps_null or unwrap is not None
    return None if wraps_null else value


def attributes(value: Json) -> dict[str, Json]:
    """The attributes of a list of key/value pairs, of an object, or of JSON in a string."""
    value = decode_structure(value)
    if isinstance(value, dict):
        return {key: _unwrap_single(inner) for key, inner in value.items()}
    return {
        key: plain(first_value(pair, "value", "Value"))
        for pair in objects_in(value)
        if (key := _key(pair))
    }


def _key(pair: dict[str, Json]) -> str:
    key = first_value(pair, "key", "Key")
    return key if isinstance(key, str) else ""


def _unwrap_single(value: Json) -> Json:
    return plain(value) if isinstance(value, dict) and len(value) == 1 else value


def _integer(value: Json) -> Json:
    number = as_count(value)
    return value if number is None else number


def _double(value: Json) -> Json:
    """A number; protobuf writes NaN and the infinities as text, and JSON has neither."""
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
    return [plain(item) for item in as_array(as_object(value).get("values"))]


def _pairs(value: Json) -> Json:
    return attributes(as_object(value).get("values"))


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


def flatten_nested(value: dict[str, Json]) -> dict[str, Json]:
    """Nested attributes under dotted keys: `{"llm": {"x": [{"y": 1}]}}` → `{"llm.x.0.y": 1}`."""
    # A stack instead of recursion, because exports may nest deeper than Python's stack; reversed,
    # so that attributes keep their order.
    flat: dict[str, Json] = {}
    pending = list(_children("", value))[::-1]
    while pending:
        key, inner = pending.pop()
        children = [] if key in _WRAPPED_JSON else list(_children(key, inner))
        if children:
            pending.extend(children[::-1])
        elif inner is not None:
            flat[key] = inner
    return flat


def _children(prefix: str, value: Json) -> Iterator[tuple[str, Json]]:
    dot = f"{prefix}." if prefix else ""
    if isinstance(value, dict):
        yield from ((f"{dot}{key}", inner) for key, inner in value.items())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield from ((f"{dot}{index}", inner) for index, inner in enumerate(value))


def resource(item: Json) -> dict[str, Json]:
    """The attributes of a resource, which are under `attributes` or at the top."""
    item = decode_structure(item)
    fields = as_object(item)
    names = [name for name in ("attributes", "Attributes") if name in fields]
    return attributes(first_value(fields, *names) if names else item)
