"""YAML as plain values: what is read, what is refused, and that writing is the inverse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.files.yaml import read_yaml, read_yaml_1_1, write_yaml

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "No",
        "1e3",
        "12:30",
        "2025-01-15",
        "~",
        "a: b",
        "# x",
        "<<",
        "two\nlines",
        "a\x85b",
        " x",
        "📦",
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(values.filter(lambda value: "inf" not in repr(value)))
def test_what_is_written_is_read_again(value: Any):
    assert repr(read_yaml(write_yaml(value).decode()).value) == repr(value)


def test_answers_and_dates_stay_texts():
    text = "[No, yes, 12:30, 2025-01-15, 1_000, .inf]"
    assert read_yaml(text).value == ["No", "yes", "12:30", "2025-01-15", "1_000", ".inf"]
    assert read_yaml_1_1("[No, yes]").value == [False, True]


def test_numbers_booleans_and_null_are_values():
    assert read_yaml("[1, -2.5, 1e3, true, null, ~, '1']").value == [
        1,
        -2.5,
        1e3,
        True,
        None,
        None,
        "1",
    ]


def test_every_value_has_a_line():
    lines = read_yaml("a:\n  - x\n  - b: |\n      text\nc: 1\n").lines
    assert lines["$.a[0]"] == 2
    assert lines["$.a[1].b"] == 3
    assert lines["$.c"] == 5


def test_aliases_and_merge_keys_are_copies():
    yaml = read_yaml(
        "a: &x {k: [1]}\nb: *x\nc:\n  <<: *x\n  k: 2\n  z: 3\nd:\n  <<: [*x, {y: 4}]\n"
    )
    copy = {"k": [1]}
    assert yaml.value == {
        "a": copy,
        "b": copy,
        "c": {"k": 2, "z": 3},
        "d": {"k": [1], "y": 4},
    }
    assert yaml.value["a"] is not yaml.value["b"]
    assert yaml.aliases == 3
    assert yaml.lines["$.b"] == 2


LAUGHS = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: *x", r"unknown alias 'x' \(at line 2\)"),
        ("a: &x [1, *x]", r"unknown alias 'x' \(at line 1\)"),
        (LAUGHS, r"aliases of more than 100,000 values \(at line 5\)"),
        ("a: 1\na: 2", r"duplicate key 'a' \(at line 2\)"),
        ("1: a", r"expected a text key \(at line 1\)"),
        ("? [a]\n: b", r"expected a text key \(at line 1\)"),
        ("a:\n  <<: b", r"expected a mapping after '<<' \(at line 2\)"),
        (
            f"a: &x {'[' * 90}{']' * 90}\nb:\n"
            + "".join(f"{'  ' * n}- \n" for n in range(1, 3))
            + f"  - {'[' * 20}*x{']' * 20}",
            r"nested deeper than 100 levels \(at line 5\)",
        ),
        ("a: !!binary x", r"tags are not supported \(at line 1\)"),
        ("a: 1\n---\nb: 2", r"more than one document \(at line 2\)"),
        ("[" * 2000 + "]" * 2000, r"nested deeper than 100 levels \(at line 1\)"),
        ("a: [1\nb: 2", r"expected .* \(at line 2\)"),
    ],
)
def test_problems_name_their_line(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        read_yaml(text)
