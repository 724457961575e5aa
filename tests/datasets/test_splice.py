from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.datasets.splice import splice_json

LAID_OUT = b"""{
    "name": "s\\u00fcd",   "size": 1.50,
    "cases": [ {"a": 1,"metadata": {"source":"x"}},
               {"b": [1, 2]} ]
}
"""


def edit(data: bytes, **members: Any) -> bytes | None:
    return splice_json(data, {**msgspec.json.decode(data), **members})


def test_only_the_changed_value_is_rewritten():
    assert edit(LAID_OUT, name="nord") == LAID_OUT.replace(b'"s\\u00fcd"', b'"nord"')


def test_member_is_added_in_the_layout_of_its_object():
    cases = [{"a": 1, "metadata": {"source": "x", "by": "Lena"}}, {"b": [1, 2]}]
    before, after = b'"source":"x"', b'"source":"x","by":"Lena"'
    assert edit(LAID_OUT, cases=cases) == LAID_OUT.replace(before, after)


def test_object_is_added_with_the_indentation_of_the_file():
    data = b'{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n'
    added = b',\r\n\t"b": {\r\n\t\t"c": {\r\n\t\t\t"d": 1\r\n\t\t}\r\n\t}'
    end = data.index(b"\r\n}")
    assert edit(data, b={"c": {"d": 1}}) == data[:end] + added + data[end:]


@pytest.mark.parametrize(
    ("data", "new", "edited"),
    [
        (b"{}", {"a": 1}, b'{"a": 1}'),
        (b'{"m": { }}', {"m": {"a": 1}}, b'{"m": {"a": 1}}'),
        (b'{"a":1}', {"a": 1, "b": {"c": [2]}}, b'{"a":1,"b":{"c":[2]}}'),
        (b'{"a": 1}', {"a": 1, "b": {"c": [2]}}, b'{"a": 1, "b": {"c": [2]}}'),
        (b"[1, [2, 3]]", [1, [2, 4]], b"[1, [2, 4]]"),
        (b" 1 ", 2, b" 2 "),
        (b'{"a": "\\"}{,:"}', {"a": "x"}, b'{"a": "x"}'),
    ],
)
def test_edit_fits_its_surroundings(data: bytes, new: Any, edited: bytes):
    assert splice_json(data, new) == edited


@pytest.mark.parametrize("data", [b"", b"{", b"a,b\n1,2\n", b"\xff"])
def test_text_that_is_not_json_is_not_edited(data: bytes):
    assert splice_json(data, {"a": 1}) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values, values, st.sampled_from([None, 1, 4, "\t"]))
def test_edited_text_has_the_new_values(old: Any, new: Any, indent: int | str | None):
    data = json.dumps(old, indent=indent).encode()
    edited = splice_json(data, new)
    assert edited is not None
    assert json.loads(edited) == new
    assert splice_json(data, old) == data
