from __future__ import annotations

from carob.datasets.locate import find_lines

TEXT = b'{\n "a": [\n  {"b": "x}\\"]"},\n  [1,\n   {"c.d": null}]\n ],\n "e": 2\n}'


def test_places_are_found_past_strings_that_look_like_brackets():
    places = ["$.a[1][1].c.d", "$.e", "$.a[0].b", "$"]
    assert find_lines(TEXT, places) == {"$.a[1][1].c.d": 5, "$.e": 7, "$.a[0].b": 3, "$": 1}


def test_a_place_that_is_not_there_has_the_line_of_what_is_around_it():
    assert find_lines(TEXT, ["$.a[1][0].gone.deeper"]) == {"$.a[1][0].gone.deeper": 4}


def test_a_document_within_a_text_has_one_line():
    assert find_lines(b'"{\\"a\\": 1}"', ["$.a"]) == {"$.a": 1}


def test_damaged_text_is_no_trouble():
    assert find_lines(b'{"a": [', ["$.a[0].b"]) == {"$.a[0].b": 1}
