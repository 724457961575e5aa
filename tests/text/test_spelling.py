from __future__ import annotations

from carob.text.spelling import did_you_mean, nearest_name


def test_the_nearest_name_is_found_in_whatever_spelling():
    assert nearest_name("matchTyp", ["threshold", "match_type"]) == "match_type"


def test_a_name_that_resembles_none_has_no_nearest():
    assert nearest_name("colour", ["threshold", "match_type"]) is None


def test_the_hint_names_what_was_meant():
    assert did_you_mean("treshold", ["threshold"]) == "did you mean 'threshold'?"


def test_the_hint_names_all_that_differ_only_in_their_spelling():
    found = did_you_mean("relevence", ["Relevance", "relevance", "recall"])
    assert found == "did you mean 'Relevance' or 'relevance'?"


def test_there_is_no_hint_where_nothing_is_near():
    assert did_you_mean("colour", ["threshold"]) is None
