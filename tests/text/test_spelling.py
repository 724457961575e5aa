from __future__ import annotations

from carob.text.spelling import did_you_mean, nearest_name


def test_nearest_name_ignores_the_case_style():
    assert nearest_name("matchTyp", ["threshold", "match_type"]) == "match_type"


def test_name_unlike_all_others_has_no_nearest_name():
    assert nearest_name("colour", ["threshold", "match_type"]) is None


def test_hint_suggests_the_closest_name():
    assert did_you_mean("treshold", ["threshold"]) == "did you mean 'threshold'?"


def test_hint_suggests_all_names_that_differ_only_in_case():
    hint = did_you_mean("relevence", ["Relevance", "relevance", "recall"])
    assert hint == "did you mean 'Relevance' or 'relevance'?"


def test_there_is_no_hint_if_no_name_is_close():
    assert did_you_mean("colour", ["threshold"]) is None
