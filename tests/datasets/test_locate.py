from __future__ import annotations

from carob.datasets.locate import find_lines

TEXT = b'{\n "a": [\n  {"b": "x}\\"]"},\n  [1,\n   {"c.d": null}]\n ],\n "e": 2\n}'


def test_strings_with_brackets_do_not_disturb_the_search():
    paths = ["$.a[1][1].c.d", "$.e", "$.a[0].b", "$"]
    assert find_lines(TEXT, paths) == {"$.a[1][1].c.d": 5, "$.e": 7, "$.a[0].b": 3, "$": 1}


def test_missing_path_has_the_line_of_the_enclosing_value():
    assert find_lines(TEXT, ["$.a[1][0].gone.deeper"]) == {"$.a[1][0].gone.deeper": 4}


def test_document_within_a_string_has_one_line():
    assert find_lines(b'"{\\"a\\": 1}"', ["$.a"]) == {"$.a": 1}


def test_invalid_json_is_harmless():
    assert find_lines(b'{"a": [', ["$.a[0].b"]) == {"$.a[0].b": 1}
