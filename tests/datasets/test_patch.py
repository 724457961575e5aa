from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from carob.datasets.patch import apply, diff, paths, same
from carob.schema import Json

KEYS = st.sampled_from(["user_content", "userContent", "id", "tags", "A", "a"])
LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, "x", "y"])
DOCS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)


@given(old=DOCS, new=DOCS)
def test_applying_the_difference_gives_the_new_document(old: Json, new: Json):
    assert same(apply(old, diff(old, new)), new)


@given(old=DOCS, new=DOCS, edited=DOCS)
def test_patch_can_be_applied_to_any_other_document(old: Json, new: Json, edited: Json):
    apply(edited, diff(old, new))


def test_same_document_has_no_difference():
    assert diff({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) is None


def test_types_of_numbers_and_order_of_keys_are_differences():
    assert diff(1, 1.0) is not None
    assert diff(True, 1) is not None
    assert diff({"a": 1, "b": 2}, {"b": 2, "a": 1}) == {"order": ["b", "a"]}


def test_edited_value_survives_the_patch_that_would_replace_it():
    patch = diff({"text": "a b", "role": "user"}, {"text": "a  b", "role": "user", "note": 1})
    assert apply({"text": "edited", "role": "user"}, patch) == {
        "text": "edited",
        "role": "user",
        "note": 1,
    }


def test_edited_value_keeps_the_spelling_of_its_key():
    patch = diff({"user_content": "hi"}, {"userContent": "hi"})
    assert apply({"user_content": "edited"}, patch) == {"userContent": "edited"}


def test_elements_are_found_again_after_an_insertion():
    patch = diff([{"n": 1}, {"n": 2}], [{"n": 1}, {"n": 2, "note": "two"}])
    assert apply([{"n": 0}, {"n": 1}, {"n": 2}], patch) == [
        {"n": 0},
        {"n": 1},
        {"n": 2, "note": "two"},
    ]


def test_atomic_member_is_replaced_as_a_whole_or_not_at_all():
    patch = diff({"parts": ["a b"]}, {"parts": ["a", "b"]}, lambda key, _: key == "parts")
    assert apply({"parts": ["a b"]}, patch) == {"parts": ["a", "b"]}
    assert apply({"parts": ["edited"]}, patch) == {"parts": ["edited"]}


def test_paths_name_added_and_changed_values():
    patch = diff({"a": [{"x": 1}]}, {"a": [{"x": 2, "y": 1}, {}], "b": {}})
    assert list(paths(patch)) == ["b", "a[0].y", "a[0].x", "a[1]"]
