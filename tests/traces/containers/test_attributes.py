from __future__ import annotations

from carob.schema import Json
from carob.traces.containers.attributes import attributes, flatten_nested, plain, resource


def test_pairs_objects_and_json_in_a_string_are_the_same_attributes():
    pairs: Json = [
        {"key": "n", "value": {"intValue": "1"}},
        {"key": "s", "value": {"string_value": "x"}},
    ]
    assert attributes(pairs) == attributes({"n": 1, "s": "x"}) == attributes('{"n": 1, "s": "x"}')


def test_wrapped_values_of_an_object_are_unwrapped():
    assert attributes({"n": {"intValue": "1"}, "o": {"a": 1}}) == {"n": 1, "o": {"a": 1}}


def test_value_without_a_wrapper_is_unchanged():
    value: Json = {"content": "Hi", "role": "user"}
    assert plain(value) == value
    assert plain({"intValue": "many"}) == "many"


def test_resource_may_be_unwrapped():
    assert resource({"attributes": {"a": 1}}) == resource({"a": 1}) == {"a": 1}


def test_nested_keys_are_joined_by_dots_and_list_indexes():
    nested: dict[str, Json] = {"llm": {"tools": [{"name": "x"}, {"name": "y"}], "tags": ["a"]}}
    assert flatten_nested(nested) == {
        "llm.tools.0.name": "x",
        "llm.tools.1.name": "y",
        "llm.tags": ["a"],
    }


def test_object_attributes_are_not_flattened():
    assert flatten_nested({"tool": {"parameters": {"a": {"b": 1}}}}) == {
        "tool.parameters": {"a": {"b": 1}}
    }


def test_empty_objects_are_preserved_and_nulls_are_dropped():
    assert flatten_nested({"a": {}, "b": None, "c": {"d": []}}) == {"a": {}, "c.d": []}
