"""Quantities that a text states: numbers, money, percentages, measures, dates, times and codes.

A quantity has every reading that its spelling allows, so that ambiguity is explicit: `1.200` is 1.2
or 1200, `03/05/2026` is two dates, `45 pounds` is money or a weight, and `14 May` has no year. Two
quantities match if any of their readings do.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from carob.text.facts.lexicon import PINT_NAMES

Kind: TypeAlias = Literal["number", "money", "percent", "measure", "rate", "date", "time", "code"]

_ROUNDING = 0.02  # largest relative error of a value that was converted and rounded


class Date(NamedTuple):
    """A date; `None` for a part that the text does not state."""

    year: int | None
    month: int
    day: int | None


class Reading(NamedTuple):
    """One meaning of a quantity."""

    kind: Kind
    value: Decimal | Date | str
    """A code is a text, a rate a unit, a time of day the number of minutes since midnight."""
    unit: str = ""
    """A currency, or a unit as CLDR calls it."""


Claim: TypeAlias = tuple[Iterable[Reading], int]
"""What a part of a text means, and where it ends."""
Reader: TypeAlias = Callable[["re.Match[str]"], Claim | None]
"""Reads what a pattern matches; `None` if it is not a quantity."""


class Quantity(NamedTuple):
    """A quantity: its readings, and how it is written."""

    readings: frozenset[Reading]
    text: str

    def is_a(self, kind: Kind) -> bool:
        """Tell whether it has a reading of the kind."""
        return any(reading.kind == kind for reading in self.readings)


def unmatched(quantities: Iterable[Quantity], others: Iterable[Quantity]) -> list[Quantity]:
    """Return the quantities that match none of the others.

    A rate such as `per month` is compared with other rates only: most have too many spellings.
    """
    candidates = [*quantities]
    if not candidates:
        return []
    known = _Known(others)
    return [
        quantity
        for quantity in candidates
        if (known.has_rates or not quantity.is_a("rate"))
        and not any(known.agrees(reading) for reading in quantity.readings)
    ]


def matches(first: Quantity, second: Quantity) -> bool:
    """Tell whether two quantities may mean the same."""
    known = _Known([second])
    return any(known.agrees(reading) for reading in first.readings)


class _Known:
    """Readings to compare with. Sets, because a long text may have thousands."""

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        self.readings = {reading for quantity in quantities for reading in quantity.readings}
        self.numbers = {reading.value for reading in self.readings if reading.kind == "number"}
        self.parts = {
            part
            for reading in self.readings
            if reading.kind != "number"
            for part in _bare_numbers(reading)
        }
        self.dates = [reading.value for reading in self.readings if isinstance(reading.value, Date)]
        self.measures: dict[str, list[Decimal]] = {}
        for kind, value, unit in self.readings:
            if kind == "measure" and isinstance(value, Decimal):
                self.measures.setdefault(unit, []).append(value)
        for values in self.measures.values():
            values.sort()
        self.has_rates = any(reading.kind == "rate" for reading in self.readings)

    def agrees(self, reading: Reading) -> bool:
        if reading in self.readings:
            return True
        # A bare number matches the same number with a unit: the unit may be in the question.
        if reading.kind == "number":
            return reading.value in self.parts
        if any(part in self.numbers for part in _bare_numbers(reading)):
            return True
        if isinstance(reading.value, Date):
            return any(_agree_in_dates(reading.value, date) for date in self.dates)
        return reading.kind == "measure" and any(
            _agree_in_units(reading, unit, values) for unit, values in self.measures.items()
        )


def _bare_numbers(reading: Reading) -> Iterable[Decimal | int | None]:
    """Return the numbers that may stand for a quantity: 14 for `14 May`, 4 and 16 for `4 pm`."""
    if isinstance(reading.value, Date):
        return reading.value.year, reading.value.day
    if isinstance(reading.value, str):
        return ()
    if reading.kind == "time":
        hour, minute = divmod(reading.value, 60)
        return () if minute else (hour, hour % 12 or 12)
    return (reading.value,)


def _agree_in_dates(first: Date, second: Date) -> bool:
    return all(
        mine == theirs or mine is None or theirs is None
        for mine, theirs in zip(first, second, strict=True)
    )


def _agree_in_units(reading: Reading, unit: str, values: Sequence[Decimal]) -> bool:
    """Tell whether one of the sorted values, in another unit, is the same measure."""
    value = cast("Decimal", reading.value)
    if "temperature-generic" in (reading.unit, unit):
        return "temperature" in reading.unit and "temperature" in unit and value in values
    there, back = _conversion(reading.unit, unit), _conversion(unit, reading.unit)
    if there is None or back is None:
        return False
    converted = there.apply(value)
    nearest = bisect_left(values, converted)
    return any(
        _rounds_to(converted, candidate) or _rounds_to(back.apply(candidate), value)
        for candidate in values[max(0, nearest - 2) : nearest + 2]
    )


def _rounds_to(converted: float, stated: Decimal) -> bool:
    """Tell whether a converted value is the stated one at its precision: 5 miles are 8 km."""
    digits = max(0, -cast("int", stated.as_tuple().exponent))
    difference = abs(converted - float(stated))
    return difference <= 0.5 * 10.0**-digits and difference <= _ROUNDING * abs(converted)


class _UnitConversion(NamedTuple):
    factor: float
    offset: float
    """What temperatures need."""

    def apply(self, value: Decimal) -> float:
        return float(value) * self.factor + self.offset


@lru_cache(maxsize=4096)
def _conversion(unit: str, target: str) -> _UnitConversion | None:
    """Return how to convert between units; `None` if they measure different things."""
    registry = _load_registry()
    source, goal = registry.Unit(PINT_NAMES[unit]), registry.Unit(PINT_NAMES[target])
    if source.dimensionality != goal.dimensionality:
        return None
    start, step = (float(registry.Quantity(x, source).to(goal).magnitude) for x in (0.0, 1.0))
    return _UnitConversion(step - start, start)


@lru_cache(maxsize=1)
def _load_registry() -> Any:
    """Load the units of `pint`, which takes a while: only two different units need them."""
    return import_module("pint").UnitRegistry()  # late: an optional package
