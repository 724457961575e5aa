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


def likely_values(tokens: list[Token], field: str, values: tuple[str, ...]) -> dict[str, float]:
    probabilities = value_probabilities(tokens, field, values)
    return {value: share for value, share in probabilities.items() if share}


def test_number_in_one_token_has_probabilities():
    tokens = [sure('{"score": '), Token(text="4", alternatives={"4": 0.6, "5": 0.3}), sure("}")]
    assert likely_values(tokens, "score", ("4", "5")) == pytest.approx({"4": 2 / 3, "5": 1 / 3})


def test_number_in_two_tokens_has_probabilities():
    tokens = [
        sure('{"score":'),
        Token(text="1", alternatives={"1": 0.9, "7": 0.1}),
        Token(text="0", alternatives={"0": 0.8, "}": 0.2}),
        sure("}"),
    ]
    assert likely_values(tokens, "score", SCALE) == pytest.approx({"10": 0.72, "1": 0.18, "7": 0.1})


def test_quoted_word_has_probabilities_in_any_case():
    tokens = [
        sure('{"verdict":'),
        Token(text='"yes', alternatives={'"yes': 0.7, '"No': 0.3}),
        sure('"}'),
    ]
    assert likely_values(tokens, "verdict", ("yes", "no")) == pytest.approx({"yes": 0.7, "no": 0.3})


def test_only_the_deciding_field_counts_not_similar_text():
    tokens = [
        sure('{"reason":"score: '),
        Token(text="1", alternatives={"1": 0.5, "2": 0.5}),
        sure('","score":'),
        Token(text="4", alternatives={"4": 1.0}),
        sure("}"),
    ]
    assert likely_values(tokens, "score", SCALE) == {"4": 1.0}


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
def test_unknown_probabilities_are_empty(tokens: list[Token]):
    assert value_probabilities(tokens, "score", SCALE) == {}


def test_first_token_counts_for_the_word_it_starts():
    probabilities = word_probabilities(
        {"Yes": 0.5, " y": 0.1, "NO": 0.2, "Perhaps": 0.2}, ("yes", "no")
    )
    assert probabilities == pytest.approx({"yes": 0.75, "no": 0.25})


def test_first_token_that_is_rarely_a_word_decides_nothing():
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
def test_probabilities_sum_to_one_or_are_empty_for_any_tokens(tokens: list[Token]):
    probabilities = value_probabilities(tokens, "score", SCALE)
    assert not probabilities or sum(probabilities.values()) == pytest.approx(1.0)
