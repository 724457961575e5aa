from __future__ import annotations

from carob.schema.equality import json_equal


def test_equal_numbers_are_equivalent_but_booleans_are_not_numbers():
    assert json_equal({"n": [1]}, {"n": [1.0]})
    assert not json_equal({"n": 1}, {"n": True})
    assert not json_equal([False], [0])


def test_objects_and_lists_are_equal_only_as_a_whole():
    assert json_equal({"a": 1, "b": None}, {"b": None, "a": 1})
    assert not json_equal({"a": 1}, {"a": 1, "b": None})
    assert not json_equal([1], [1, 2])
    assert not json_equal([1, 2], [2, 1])
    assert not json_equal({}, [])
