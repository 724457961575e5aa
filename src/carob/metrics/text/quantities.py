"""Quantities that a text states: numbers, money, percentages, measures, dates, times and codes.

A quantity has every reading that its spelling allows, so that ambiguity is explicit: `1.200` is 1.2
or 1200, `03/05/2026` is two dates, `45 pounds` is money or a weight, and `14 May` has no year. Two
quantities match if any of their readings do.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import msgspec

from carob.metrics.text.lexicon import PINT_NAMES, has_packages
from carob.schema import Score, Unscored

Kind: TypeAlias = Literal["number", "money", "percent", "measure", "rate", "date", "time", "code"]

_NOT_COMPARED = "units, names of months and number words; install carob[facts] to compare them"
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


class Quantity(NamedTuple):
    """A quantity: its readings, and how it is written."""

    readings: frozenset[Reading]
    text: str

    def is_a(self, kind: Kind) -> bool:
        """Tell whether it has a reading of the kind."""
        return any(reading.kind == kind for reading in self.readings)


def note_limits(outcome: Score | Unscored) -> Score | Unscored:
    """Say in the details what was not compared because the extra `facts` is not installed."""
    if has_packages() or isinstance(outcome, Unscored):
        return outcome
    return msgspec.structs.replace(
        outcome, details={**outcome.details, "not_compared": _NOT_COMPARED}
    )


def unmatched(quantities: Iterable[Quantity], others: Iterable[Quantity]) -> list[Quantity]:
    """Return the quantities that match none of the others.

    A rate such as `per month` is compared with other rates only: most have too many spellings.
    """
    known = [*others]
    rates = any(other.is_a("rate") for other in known)
    return [
        quantity
        for quantity in quantities
        if (rates or not quantity.is_a("rate"))
        and not any(matches(quantity, other) for other in known)
    ]


def matches(first: Quantity, second: Quantity) -> bool:
    """Tell whether two quantities may mean the same."""
    if first.readings & second.readings:
        return True
    return any(_agree(one, other) for one in first.readings for other in second.readings)


def _agree(one: Reading, other: Reading) -> bool:
    if one.kind == other.kind:
        return _agree_in_kind(one, other)
    # A bare number matches the same number with a unit: the unit may be in the question.
    if one.kind == "number":
        return _is_number_of(one.value, other)
    if other.kind == "number":
        return _is_number_of(other.value, one)
    return False


def _agree_in_kind(one: Reading, other: Reading) -> bool:
    if isinstance(one.value, Date) and isinstance(other.value, Date):
        return all(
            mine == theirs or mine is None or theirs is None
            for mine, theirs in zip(one.value, other.value, strict=True)
        )
    if one.kind == "measure" and one.unit != other.unit:
        return _agree_in_units(one, other)
    return one.value == other.value and one.unit == other.unit


def _is_number_of(number: Decimal | Date | str, other: Reading) -> bool:
    if isinstance(other.value, Date):
        return number in (other.value.year, other.value.day)
    if other.kind == "time":
        hour, minute = divmod(cast("Decimal", other.value), 60)
        return minute == 0 and number in (hour, hour % 12 or 12)
    return other.kind not in ("code", "rate") and number == other.value


def _agree_in_units(one: Reading, other: Reading) -> bool:
    first, second = cast("Decimal", one.value), cast("Decimal", other.value)
    if "temperature-generic" in (one.unit, other.unit):
        return "temperature" in one.unit and "temperature" in other.unit and first == second
    return _rounds_to(_convert(first, one.unit, other.unit), second) or _rounds_to(
        _convert(second, other.unit, one.unit), first
    )


def _rounds_to(converted: float | None, stated: Decimal) -> bool:
    """Tell whether a converted value is the stated one at its precision: 5 miles are 8 km."""
    if converted is None:
        return False
    digits = max(0, -cast("int", stated.as_tuple().exponent))
    if round(Decimal(converted), digits) != stated:
        return False
    return abs(converted - float(stated)) <= _ROUNDING * abs(converted)


@lru_cache(maxsize=4096)
def _convert(value: Decimal, unit: str, target: str) -> float | None:
    """Convert between units; `None` if they measure different things."""
    registry = _load_registry()
    source, goal = registry.Unit(PINT_NAMES[unit]), registry.Unit(PINT_NAMES[target])
    if source.dimensionality != goal.dimensionality:
        return None
    return float(registry.Quantity(float(value), source).to(goal).magnitude)


@lru_cache(maxsize=1)
def _load_registry() -> Any:
    """Load the units of `pint`, which takes a while: only two different units need them."""
    return import_module("pint").UnitRegistry()  # late: an optional package
