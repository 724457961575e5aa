from __future__ import annotations

import msgspec
import pytest

from carob.schema import Case
from tests.synth.shop import FERN, ROSE, SOIL, users, variants


@pytest.mark.parametrize("relation", ["typos", "casing", "punctuation", "filler"])
@pytest.mark.parametrize("case", [FERN, ROSE, SOIL])
def test_another_wording_changes_nothing_but_the_messages(relation: str, case: Case):
    for variant in variants(relation, case):
        assert users(variant) != users(case)
        restored = [
            msgspec.structs.replace(turn, user=old.user)
            for turn, old in zip(variant.turns, case.turns, strict=True)
        ]
        assert msgspec.structs.replace(variant, turns=tuple(restored)) == case


@pytest.mark.parametrize("relation", ["typos", "casing", "punctuation", "filler"])
def test_values_of_arguments_stay_as_they_are(relation: str):
    for variant in variants(relation, ROSE):
        assert "GS-2077" in (variant.turns[0].user or "")
        assert "van" in (variant.turns[0].user or "")


def test_a_typo_is_not_another_word_of_the_dataset():
    case = Case.of("Is the planter heavy?", id="p")
    assert variants("typos", case)
    for variant in variants("typos", case):
        assert len((variant.turns[0].user or "").split()) == 4


def test_a_question_without_a_question_word_keeps_its_mark():
    case = Case.of("You are open on Sunday?", id="open")
    assert {users(variant)[0] for variant in variants("punctuation", case)} == {
        "You are open on Sunday???"
    }


def test_fillers_are_only_added_to_english():
    assert not variants("filler", Case.of("Wann ist der Laden am Samstag offen?", id="de"))
