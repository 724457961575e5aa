from __future__ import annotations

import re
import time
from difflib import SequenceMatcher

from hypothesis import given, settings
from hypothesis import strategies as st

from carob.report.text_diff import JsonDifference, TextPiece, compare_json, compare_words

texts = st.lists(st.sampled_from(["a", "b", "c", "d."]), max_size=12).map(" ".join)


def test_different_words_replace_each_other():
    assert compare_words("at 9:00 sharp", "at 11:00 sharp") == [
        TextPiece(True, "at ", "at "),
        TextPiece(False, "9", "11"),
        TextPiece(True, ":00 sharp", ":00 sharp"),
    ]


def test_words_of_only_one_text_replace_nothing():
    assert compare_words("a b", "a") == [TextPiece(True, "a ", "a"), TextPiece(False, "b", "")]
    assert compare_words("", "new") == [TextPiece(False, "", "new")]


def test_whitespace_is_ignored_but_preserved():
    assert compare_words("a  b", "a b") == [TextPiece(True, "a  b", "a b")]


def test_languages_without_spaces_are_compared_by_character():
    pieces = compare_words("明日届きます", "明後日届きます")
    assert [piece.actual for piece in pieces if not piece.same] == ["後"]


@given(st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=200)
def test_pieces_add_up_to_the_texts(expected: str, actual: str):
    pieces = compare_words(expected, actual)
    assert "".join(piece.expected for piece in pieces) == expected
    assert "".join(piece.actual for piece in pieces) == actual


def words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


@given(texts, texts)
@settings(max_examples=200)
def test_common_subsequence_is_the_longest(expected: str, actual: str):
    length = sum(
        len(words(piece.expected)) for piece in compare_words(expected, actual) if piece.same
    )
    blocks = SequenceMatcher(None, words(expected), words(actual), autojunk=False)
    expected_length = sum(block.size for block in blocks.get_matching_blocks())
    assert length >= expected_length


def test_repetitive_texts_are_compared_quickly():
    started = time.process_time()
    compare_words("x y " * 2000, "y x x " * 1300)
    assert time.process_time() - started < 2


def test_very_long_texts_are_replaced_completely():
    pieces = compare_words("a " * 5000, "b " * 5000)
    assert [piece.same for piece in pieces] == [False]


def test_json_differs_by_path():
    assert compare_json('{"a": [1, 2], "b": null}', '{"a": [1, 3, 4]}') == [
        JsonDifference("$.a[1]", "2", "3"),
        JsonDifference("$.a[2]", None, "4"),
        JsonDifference("$.b", "null", None),
    ]


def test_numbers_are_compared_by_value_but_true_is_not_a_number():
    assert compare_json('{"a": 1, "b": 1}', '{"a": 1.0, "b": true}') == [
        JsonDifference("$.b", "1", "true")
    ]


def test_text_that_is_not_json_has_no_paths():
    assert compare_json("{broken", "{}") is None
    assert compare_json("{}", "plain text") is None
    assert compare_json("[" * 100_000, "[]") is None
