from __future__ import annotations

import pytest

from carob.schema import Json
from carob.synth.tool_schemas import find_tools, matches_schema, valid_values
from tests.synth.shop import TOOLS

SCHEMA: Json = {"required": ["a"]}


@pytest.mark.parametrize(
    "document",
    [
        [{"name": "f", "parameters": SCHEMA}],
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]},
        {"tools": [{"name": "f", "inputSchema": SCHEMA}]},
        [{"name": "f", "input_schema": SCHEMA}],
        {
            "root": {
                "tool_declarations": [
                    {"function_declarations": [{"name": "f", "parameters": SCHEMA}]}
                ]
            }
        },
    ],
)
def test_declarations_of_every_api_are_read(document: Json):
    assert find_tools(document)["f"].required == {"a"}


@pytest.mark.parametrize(
    ("args", "invalid"),
    [
        ({"order_id": "GS-1041"}, None),
        ({}, "order_id"),
        ({"order_id": 1041}, "order_id"),
        ({"order_id": "GS"}, "order_id"),
        ({"order_id": "GS-1041", "carrier": "ship"}, "carrier"),
        ({"order_id": "GS-1041", "color": "red"}, "color"),
    ],
)
def test_the_first_invalid_argument_is_named(args: dict[str, Json], invalid: str | None):
    assert find_tools(TOOLS)["find_order"].find_invalid(args) == invalid


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, (1, 5, 9)),
        ({"type": "string", "enum": ["a", "b"]}, ("a", "b")),
        ({"type": "string", "pattern": "^x"}, ()),
        ({"type": "string", "examples": ["oak", 7]}, ("oak",)),
        ({"type": "string"}, ()),
    ],
)
def test_values_are_made_only_where_the_schema_is_understood(
    schema: dict[str, Json], values: tuple[Json, ...]
):
    assert valid_values(schema) == values
    assert all(matches_schema(value, schema) for value in values)


def test_true_is_not_a_number():
    assert not matches_schema(True, {"type": "integer"})
    assert matches_schema(True, {"type": "BOOLEAN"})
