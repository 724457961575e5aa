from __future__ import annotations

import pytest

from carob.text.facts.opposites import find_opposites, find_positions


def conflicts(stated: str, known: str) -> list[tuple[str, str]]:
    found = find_opposites(find_positions(stated, "en"), find_positions(known, "en"))
    return [(position.word, other.word) for position, other in found]


@pytest.mark.parametrize(
    ("stated", "known", "words"),
    [
        ("Take it before lunch.", "Take the pill after lunch.", ("before", "after")),
        ("Sales fell by 4 percent.", "Sales rose by 4 percent in March.", ("fell", "rose")),
        ("They fell 4 percent.", "Sales rose 4 percent.", ("fell", "rose")),
        ("Everyone can delete projects.", "Only admins can delete projects.", ("everyone", "only")),
        ("You need at most 3 weeks.", "You need at least 21 days.", ("at most", "at least")),
        ("Turn right at the bank.", "Turn left at the bank.", ("right", "left")),
        ("Der Preis steigt.", "Der Preis sinkt.", ("steigt", "sinkt")),
        ("Le prix baisse de 3 %.", "Le prix augmente de 3 %.", ("baisse", "augmente")),
        ("Antes de comer.", "Después de comer.", ("antes de", "después de")),
    ],
)
def test_opposite_in_the_same_context_is_found(stated: str, known: str, words: tuple[str, str]):
    assert conflicts(stated, known) == [words]


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ("Come before lunch.", "We leave after dinner."),
        ("Pay before or after lunch.", "Pay after lunch."),
        ("Rents rose in the north.", "The temperature fell at night."),
        ("You need no more than 3 weeks.", "You need at most 3 weeks."),
        ("Not everyone can delete projects.", "Only admins can delete projects."),
        ("It is open until 18:00.", "It is open from 9 am to 6 pm."),
        ("All rooms have a bath.", "Only the bar accepts cards."),
        ("O prazo é de no máximo 3 dias.", "O prazo é de no máximo 3 dias."),
    ],
)
def test_opposite_elsewhere_or_negated_is_not_a_conflict(stated: str, known: str):
    assert conflicts(stated, known) == []
