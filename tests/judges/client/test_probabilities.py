from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.judges.client.probabilities import value_probabilities, word_probabilities
from carob.judges.model import Token

SCALE = tuple(str(number) for number in range(1, 11))


def sure(text: str) -> Token:
    return Token(text=text, alternatives={text: 1.0})


def told(tokens: list[Token], field: str, values: tuple[str, ...]) -> dict[str, float]:
    found = value_probabilities(tokens, field, values)
    return {value: share for value, share in found.items() if share}


def test_a_number_of_one_token():
    tokens = [sure('{"score": '), Token(text="4", alternatives={"4": 0.6, "5": 0.3}), sure("}")]
    assert told(tokens, "score", ("4", "5")) == pytest.approx({"4": 2 / 3, "5": 1 / 3})


def test_a_number_of_two_tokens():
    tokens = [
        sure('{"score":'),
        Token(text="1", alternatives={"1": 0.9, "7": 0.1}),
        Token(text="0", alternatives={"0": 0.8, "}": 0.2}),
        sure("}"),
    ]
    assert told(tokens, "score", SCALE) == pytest.approx({"10": 0.72, "1": 0.18, "7": 0.1})


def test_a_word_with_its_quotes_in_any_case():
    tokens = [
        sure('{"verdict":'),
        Token(text='"yes', alternatives={'"yes': 0.7, '"No': 0.3}),
        sure('"}'),
    ]
    assert told(tokens, "verdict", ("yes", "no")) == pytest.approx({"yes": 0.7, "no": 0.3})


def test_the_field_that_decides_counts_and_not_one_that_reads_like_it():
    tokens = [
        sure('{"reason":"score: '),
        Token(text="1", alternatives={"1": 0.5, "2": 0.5}),
        sure('","score":'),
        Token(text="4", alternatives={"4": 1.0}),
        sure("}"),
    ]
    assert told(tokens, "score", SCALE) == {"4": 1.0}


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [sure("4")],
        [sure('{"grade":4}')],
        [sure('{"score":'), Token(text="4", alternatives={}), sure("}")],
        [sure('{"score":'), Token(text="4", alternatives={"5": 1.0}), sure("}")],
        [sure('{"score":'), Token(text="4", alternatives={"4": nan}), sure("}")],
        [sure('{"score":'), Token(text="4", alternatives={"4": inf}), sure("}")],
    ],
)
def test_what_cannot_be_told_is_not_made_up(tokens: list[Token]):
    assert value_probabilities(tokens, "score", SCALE) == {}


def test_a_first_token_stands_for_the_word_that_it_begins():
    found = word_probabilities({"Yes": 0.5, " y": 0.1, "NO": 0.2, "Perhaps": 0.2}, ("yes", "no"))
    assert found == pytest.approx({"yes": 0.75, "no": 0.25})


def test_a_first_token_that_is_hardly_ever_one_of_the_words_decides_nothing():
    assert word_probabilities({"yes": 0.05, "The": 0.95}, ("yes", "no")) == {}


@given(
    st.lists(
        st.builds(
            Token,
            text=st.text(max_size=8) | st.sampled_from(['{"score":', "4", "1", "0", "}", '"']),
            alternatives=st.dictionaries(st.text(max_size=4), st.floats(), max_size=4),
        ),
        max_size=6,
    )
)
def test_whatever_a_wire_tells_the_shares_sum_to_one_or_there_are_none(tokens: list[Token]):
    found = value_probabilities(tokens, "score", SCALE)
    assert not found or sum(found.values()) == pytest.approx(1.0)
