"""Tool declarations as JSON Schemas: read them, check arguments, and make valid values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from carob.schema import Case, Json
from carob.text.vocabulary import word_list

_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parameters_json_schema")
_LISTS = ("function_declarations", "functionDeclarations", "tools", "tool_declarations")
_UNDERSTOOD = word_list("""
    type enum const minimum maximum minLength maxLength default examples example format
    description title nullable
""")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_FORMATS: Mapping[str, tuple[str, ...]] = {
    "date": ("2026-03-05", "2026-04-17", "2026-05-09"),
    "date-time": ("2026-03-05T09:00:00Z", "2026-04-17T14:30:00Z"),
    "time": ("09:00", "14:30"),
    "email": ("ada@example.com", "noor@example.org"),
}


class ToolSchema(NamedTuple):
    """The parameters of a tool."""

    name: str
    properties: Mapping[str, Mapping[str, Json]]
    required: frozenset[str]
    is_closed: bool
    """Whether other arguments are invalid."""

    def find_invalid(self, args: Mapping[str, Json]) -> str | None:
        """The first argument that is missing, unknown or invalid."""
        for name in sorted(self.required):
            if name not in args:
                return name
        for name, value in args.items():
            schema = self.properties.get(name)
            if schema is None:
                if self.is_closed:
                    return name
            elif not matches_schema(value, schema):
                return name
        return None


def find_tools(declarations: Json) -> dict[str, ToolSchema]:
    """The tools in a document: a list of OpenAI, MCP, Anthropic or ADK declarations, or an object
    that contains such lists."""
    return {tool.name: tool for tool in _walk(declarations)}


def tools_of_cases(cases: tuple[Case, ...]) -> dict[str, ToolSchema]:
    """The tools that the cases declare themselves."""
    apps: list[Json] = [turn.app for case in cases for turn in case.turns if turn.app]
    return find_tools(apps)


def _walk(value: Json) -> Iterator[ToolSchema]:
    if isinstance(value, list):
        for item in value:
            yield from _walk(item)
    elif isinstance(value, dict):
        function = value.get("function")
        declaration = function if isinstance(function, dict) else value
        tool = _read_declaration(declaration)
        if tool:
            yield tool
            return
        lists = [value[key] for key in _LISTS if key in value]
        yield from _walk(lists or [item for item in value.values() if isinstance(item, dict)])


def _read_declaration(value: dict[str, Json]) -> ToolSchema | None:
    name = value.get("name")
    schema = next((value[key] for key in _SCHEMAS if isinstance(value.get(key), dict)), None)
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    required = schema.get("required")
    return ToolSchema(
        name,
        cast("dict[str, dict[str, Json]]", properties if isinstance(properties, dict) else {}),
        frozenset(str(item) for item in required) if isinstance(required, list) else frozenset(),
        schema.get("additionalProperties") is False,
    )


def matches_schema(value: Json, schema: Mapping[str, Json]) -> bool:
    """Whether a value has the type, is one of the values, and is within the limits of a schema.
    Other keywords are not checked."""
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    kind = schema.get("type")
    # ADK writes the types of Google's API, in capitals.
    types = _TYPES.get(kind.lower()) if isinstance(kind, str) else None
    if types and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
        return False
    return _is_within_limits(value, schema)


def _is_within_limits(value: Json, schema: Mapping[str, Json]) -> bool:
    if isinstance(value, str):
        return _within(len(value), schema.get("minLength"), schema.get("maxLength"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _within(value, schema.get("minimum"), schema.get("maximum"))
    return True


def _within(number: float, low: Json, high: Json) -> bool:
    above = not isinstance(low, int | float) or number >= low
    return above and (not isinstance(high, int | float) or number <= high)


def valid_values(schema: Mapping[str, Json]) -> tuple[Json, ...]:
    """Values that a schema allows: those that it lists, the limits of a number, or those of a
    format. None if it has a keyword whose meaning is not known here, such as `pattern`."""
    if not _UNDERSTOOD.issuperset(schema):
        return ()
    candidates: list[Json] = []
    for key in ("enum", "examples"):
        listed = schema.get(key)
        candidates += listed if isinstance(listed, list) else []
    candidates += [schema[key] for key in ("const", "example", "default") if key in schema]
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, int) and isinstance(high, int) and low < high:
        candidates += [low, (low + high) // 2, high]
    form = schema.get("format")
    candidates += _FORMATS.get(form, ()) if isinstance(form, str) else ()
    return tuple(value for value in candidates if matches_schema(value, schema))
