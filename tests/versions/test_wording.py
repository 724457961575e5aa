from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.versions.wording import is_correction

CORRECTIONS = [
    # spelling
    ("You will recieve a refund.", "You will receive a refund."),
    ("Your acount was closed definately.", "Your account was closed definitely."),
    ("We ship to Afganistan.", "We ship to Afghanistan."),
    ("Refund aproved", "Refund approved"),
    ("Reset it in the the settings.", "Reset it in the settings."),
    ("Its open on Sunday.", "It's open on Sunday."),
    ("You can not return teh helmet.", "You can not return the helmet."),
    # punctuation
    ("Yes we do", "Yes, we do."),
    ("Visit the page; click 'Forgot Password'.", 'Visit the page, click "Forgot Password"!'),
    ("Open 9-17 Monday - Friday", "Open 9–17 Monday – Friday."),
    ("It is well-known, e.g. in Spain.", "It is well known, eg in Spain."),
    ("See https://shop.example/a.", "See https://shop.example/a"),
    # white space and casing
    ("open at 10am", "Open at 10 AM."),
    ("visit the  App store,then log in", "Visit the app store, then log in"),
    ("It weighs 5kg.", "It weighs 5 kg."),
    ("WE DO NOT SHIP ON SUNDAYS.", "We do not ship on Sundays."),
    # other languages
    ("Die rechnung kommt am montag.", "Die Rechnung kommt am Montag."),
    ("Non, ce n'est pas possible", "Non, ce n’est pas possible !"),
    ("Cuánto cuesta? No hay envío.", "¿Cuánto cuesta? No hay envío."),
]

CHANGES = [
    # negation
    ("Helmets are not returnable.", "Helmets are returnable."),
    ("You can return it.", "You can't return it."),
    ("You can't return it.", "You can return it."),
    ("It isn't free.", "It is free."),
    ("You didnt pay.", "You didn't pay."),
    ("No, refunds are possible.", "No refunds are possible."),
    ("Returns are possible.", "Returns are impossible."),
    ("It is legal.", "It is illegal."),
    ("Sie bekommen keine Rechnung.", "Sie bekommen eine Rechnung."),
    ("Das ist nicht möglich.", "Das ist möglich."),
    ("Ce n'est pas gratuit.", "C'est gratuit."),
    ("No es gratis.", "Es gratis."),
    ("Nunca abrimos.", "Abrimos."),
    # opposites and other words
    ("The price will increase.", "The price will decrease."),
    ("Open before noon.", "Open after noon."),
    ("Your order was accepted.", "Your order was excepted."),
    ("Fill in the form.", "Fill in the from."),
    ("It came from us.", "It came form us."),
    ("A casual visit.", "A causal visit."),
    ("We were closed.", "We're closed."),
    ("Keep it every day.", "Keep it everyday."),
    ("Take the well.", "Take the we'll."),
    # names
    ("The capital is Berlin.", "The capital is Paris."),
    ("Ask Jon Baker.", "Ask John Baker."),
    ("Ask Mrs Thier.", "Ask Mrs Their."),
    ("Please call us.", "Please call US."),
    ("Wir rufen sie an.", "Wir rufen Sie an."),
    # numbers, units, currencies, dates
    ("Within 15 days.", "Within 16 days."),
    ("It costs 1.200 euros.", "It costs 1,200 euros."),
    ("It costs 5.50.", "It costs 550."),
    ("It costs $5.", "It costs €5."),
    ("It costs $5.", "It costs 5."),
    ("It weighs 5 kg.", "It weighs 5 lb."),
    ("It needs 5 mW.", "It needs 5 MW."),
    ("On 14 May 2026.", "On 14 June 2026."),
    ("On 03/05/2026.", "On 05/03/2026."),
    ("It is -5 degrees.", "It is 5 degrees."),
    ("Take 5 - 7 pills.", "Take 5 7 pills."),
    ("5 red and blue tyres", "red and 5 blue tyres"),
    ("Wait fourteen days.", "Wait forty days."),
    ("Open at 4 am.", "Open at 4 pm."),
    ("Order MB-20418.", "Order MB-20481."),
    ("The result is (5).", "The result is 5."),
    ("It is 6' long.", 'It is 6" long.'),
    # code and structured data
    ('{"items": ["a", "b"]}', '{"items": "a", "b"}'),
    ("Run `a != b`.", "Run `a = b`."),
    ("Use x != y here.", "Use x = y here."),
    ("Call getUser first.", "Call getuser first."),
    ("Edit Config.py first.", "Edit config.py first."),
    ("Pass -R to it.", "Pass -r to it."),
    ("Learn C++ now.", "Learn C now."),
    # no dictionary for the language
    ("Das ist größer als das Rad und nicht klein.", "Das ist größer also das Rad und nicht klein."),
    ("La facura no está aquí.", "La factura no está aquí."),
    ("Die Maße sind hier.", "Die Masse sind hier."),
    ("Sie ist da, wo das Haus war.", "Sie ist da, wo das Hause war."),
    ("Je ne sais pas où il est.", "Je ne sais pas ou il est."),
    ("...", "?"),
    ("Yes.", ""),
    ("", "Yes."),
]


@pytest.mark.parametrize(("old", "new"), CORRECTIONS)
def test_spelling_punctuation_white_space_and_casing_are_corrections(old: str, new: str):
    assert is_correction(old, new)
    assert is_correction(new, old)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_everything_else_changes_the_meaning(old: str, new: str):
    assert not is_correction(old, new)
    assert not is_correction(new, old)


def test_without_the_word_list_no_spelling_is_a_correction(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carob.versions.wording.misspellings", dict)
    assert not is_correction("You will recieve it.", "You will receive it.")
    assert is_correction("you will get it", "You will get it.")


WORDS = ["we", "not", "no", "5", "kg", "15", "may", "US", "us", "never", "open"]


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60))
def test_the_answer_does_not_depend_on_the_direction(old: str, new: str):
    assert is_correction(old, new) == is_correction(new, old)


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_no_word_can_be_dropped(words: list[str]):
    text = " ".join(words)
    for index in range(len(words)):
        rest = words[:index] + words[index + 1 :]
        if words[index] not in rest:
            assert not is_correction(text, " ".join(rest))
