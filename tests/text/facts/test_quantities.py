from __future__ import annotations

import subprocess
import sys

import pytest

from carob.text.facts.extract import extract_facts
from carob.text.facts.quantities import Date, Quantity, Reading, matches, unmatched
from carob.text.facts.quantity_patterns import extract_quantities
from carob.text.language import guess_language

for package in ("babel", "pint", "text_to_num"):
    pytest.importorskip(package)


def quantities(text: str) -> tuple[Quantity, ...]:
    return extract_quantities(text, guess_language(text)).quantities


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("14 May", "the 14th of May"),
        ("14. Mai 2026", "le 14 mai 2026"),
        ("14 de mayo de 2026", "05/14/2026"),
        ("May 14, 2026", "14.05.2026"),
        ("2026-03-05", "5 March 2026"),
        ("4月8日", "8 April"),
        ("展览于2027年4月8日开始", "2027-04-08"),
        ("1.5 million", "1,500,000"),
        ("2,4 Mio.", "2.400.000"),
        ("5k people", "5,000 people"),
        ("twelve hundred", "1200"),
        ("siebzehn", "17"),
        ("vingt-trois", "23"),
        ("٥", "5"),
        ("16:00", "4 pm"),
        ("16 Uhr", "16:00"),
        ("16h30", "4:30 p.m."),
        ("alle 17.25", "alle 17:25"),
        ("午後3時", "15時"),
        ("noon", "12 o'clock"),
        ("1.200,50 Euro", "1200,50 €"),
        ("1 200,50 €", "€1,200.50"),
        ("$1.5M", "1.5 million dollars"),
        ("18 zł", "18 złotych"),
        ("20 Schweizer Franken", "CHF 20"),
        ("1.80 m", "180 cm"),
        ("5 miles", "8 km"),
        ("100 km/h", "62 mph"),
        ("3 weeks", "21 days"),
        ("20 °C", "68 °F"),
        ("minus 12 degrees Celsius", "-12 °C"),
        ("12 degrees below zero", "-12 degrees"),
        ("5 per cent", "5%"),
        ("5 pour cent de plus", "5 %"),
        ("200mg", "0.2 g"),
        ("12公里", "12 km"),
        ("1st", "1"),
        ("à 17 h 30", "à 17h30"),
        ("om 18.00 uur", "18:00"),
        ("flight LH 454", "flight LH454"),
        ("two thirds of it", "2/3 of it"),
        ("half a dozen", "6"),
        ("an hour and a half", "90 minutes"),
        ("halb neun", "8:30"),
        ("a las diez y media", "10:30"),
        ("am 12.03. um", "12. März"),
        ("(05/2024)", "May 2024"),
        ("1.2 km²", "1.2 square kilometres"),
    ],
)
def test_other_notation_of_the_same_quantity_matches(first: str, second: str):
    (one,), (other,) = quantities(first), quantities(second)
    assert matches(one, other)
    assert matches(other, one)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("200 mg", "200 g"),
        ("74 °C", "74 °F"),
        ("5 kilometres", "5 miles"),
        ("12公里", "12米"),
        ("16 GB", "16 MB"),
        ("5 euros", "5 dollars"),
        ("$5", "€5"),
        ("45 pounds", "45 dollars"),
        ("acht Monate", "drei Monate"),
        ("-5", "5"),
        ("5 %", "6 %"),
        ("2,4 Millionen", "2,4 Milliarden"),
        ("at 19:40", "at 9:40 p.m."),
        ("noon", "midnight"),
        ("3 October", "3 November"),
        ("3 October 2026", "3 October 2027"),
        ("gate B14", "gate B15"),
        ("seat 14C", "seat 14D"),
        ("482913657123456789", "482913657123456788"),
        ("version 1.2.3.4", "version 1.2.3.5"),
        ("per week", "monthly"),
        ("1,500円", "1,500ドル"),
    ],
)
def test_another_quantity_does_not_match(first: str, second: str):
    (one,), (other,) = quantities(first), quantities(second)
    assert not matches(one, other)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1.200", {("number", "1.200", ""), ("number", "1200", "")}),
        ("0.250", {("number", "0.250", "")}),
        ("45 pounds", {("money", "45", "GBP"), ("measure", "45", "mass-pound")}),
        ("16 h", {("time", "960", ""), ("measure", "16", "duration-hour")}),
    ],
)
def test_ambiguous_spelling_has_all_its_readings(text: str, readings: set[tuple[str, str, str]]):
    (quantity,) = quantities(text)
    assert {(kind, str(value), unit) for kind, value, unit in quantity.readings} == readings


def test_numeric_date_is_read_in_both_orders():
    (quantity,) = quantities("03/05/2026")
    days = {Reading("date", Date(2026, 5, 3)), Reading("date", Date(2026, 3, 5))}
    assert quantity.readings == days


def test_bare_number_matches_the_same_number_with_a_unit():
    assert not unmatched(quantities("5 days"), quantities("5"))
    assert not unmatched(quantities("14 May 2026"), quantities("the 14th"))
    assert unmatched(quantities("5 days"), quantities("6"))


def test_rate_is_compared_with_other_rates_only():
    assert not unmatched(quantities("5 euros per week"), quantities("5 euros"))
    assert unmatched(quantities("5 euros per week"), quantities("5 euros per month"))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("within 5-7 days", ["5", "7 days"]),
        ("model X-200 beat it 3-1", ["200", "3", "1"]),
        ("once you are in, the three of us go", ["3"]),
        ("You may take 5 in the morning", ["5"]),
        ("no one", []),
    ],
)
def test_quantities_end_where_they_should(text: str, spelled: list[str]):
    assert [quantity.text for quantity in quantities(text)] == spelled


def test_quantities_leave_blanks_in_the_text():
    extraction = extract_quantities("It costs 5 euros.", "en")
    assert extraction.rest == "It costs        ."


@pytest.mark.parametrize("text", ["9", "a1", "1,", "1 ", "5 km ", "before 9 ", "1.2.", "May "])
def test_long_texts_take_linear_time(text: str):
    facts = extract_facts(text * 5_000)
    assert not unmatched(facts.quantities, facts.quantities)


def test_without_the_extra_digits_are_compared_and_the_rest_is_named():
    program = """
import sys
sys.modules.update(babel=None, pint=None, text_to_num=None)
from carob.metrics.text.factuality import Factuality
from carob.schema import Case, Trace, Turn
for expected, actual in (("200 mg", "200 g"), ("200 mg", "300 mg"), ("five", "5"), ("5 €", "$5")):
    case = Case.of("How much?", expected)
    score = Factuality().score(case, Trace(id="t", turns=(Turn(response=actual),)))
    print(score.value, score.details)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["1.0", f"{1 / 3}", "1.0", "0.0"]
    named = "units, names of months and number words; install carob[facts] to compare them"
    assert all(line.endswith(str({"not_compared": named})) for line in lines)
