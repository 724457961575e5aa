"""When the arguments of an actual call are those of the expected one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple, TypeAlias, TypeGuard

from carob.metrics.calls import value
from carob.metrics.patterns import pattern
from carob.schema import Json, ToolCall

Comparator: TypeAlias = Literal["exact", "regex", "ignore_case", "any"] | float
"""A number is the largest difference at which two numbers are still equal."""

ArgsMode: TypeAlias = Literal["exact", "ignore", "subset", "superset"]


class Check(NamedTuple):
    """One argument that was compared, and what is wrong with it."""

    key: str
    wrong: str | None


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The rule by which arguments are compared.

    `subset`: what was passed is part of what is expected. `superset`: at least what is expected.
    """

    mode: ArgsMode = "exact"
    comparators: Mapping[str, Comparator] = field(default_factory=dict[str, Comparator])

    def checks(self, expected: ToolCall, actual: ToolCall) -> list[Check]:
        """One check per argument that counts; none where arguments are not stated."""
        if self.mode == "ignore" or expected.args is None:
            return []
        golden, made = _mapping(expected.args), _mapping(actual.args)
        return list(self._checks(expected.name, golden, made))

    def _checks(
        self, tool: str, golden: Mapping[str, Json], made: Mapping[str, Json]
    ) -> Iterator[Check]:
        for key, wish in golden.items():
            if key in made:
                yield Check(key, self._wrong(tool, key, wish, made[key]))
            elif self._comparator(tool, key) != "any":
                free = self.mode == "subset"
                yield Check(key, None if free else f"{key}: expected {value(wish)}, got nothing")
        for key in made:
            if key not in golden and self._comparator(tool, key) != "any":
                free = self.mode == "superset"
                yield Check(key, None if free else f"{key}: unexpected {value(made[key])}")

    def _wrong(self, tool: str, key: str, wish: Json, got: Json) -> str | None:
        if equal(wish, got, self._comparator(tool, key)):
            return None
        return f"{key}: expected {value(wish)}, got {value(got)}"

    def _comparator(self, tool: str, key: str) -> Comparator:
        """`tool.argument` goes before `argument`."""
        return self.comparators.get(f"{tool}.{key}", self.comparators.get(key, "exact"))


def equal(wish: Json, got: Json, comparator: Comparator) -> bool:
    """Whether a value is as wished. A value of the wrong type never is, except to `any`."""
    if comparator == "any":
        return True
    if isinstance(wish, str) and isinstance(got, str):
        if comparator == "regex":
            return pattern(wish).fullmatch(got)
        if comparator == "ignore_case":
            return wish.casefold() == got.casefold()
    if _number(wish) and _number(got) and isinstance(comparator, int | float):
        return within(wish, got, comparator)
    return wish == got


def within(wish: float, got: float, tolerance: float) -> bool:
    """Whether two numbers are at most so far apart, as they are written: 1.1 is 0.1 from 1, though
    their binary difference is more."""
    if wish == got or not tolerance:
        return wish == got
    from decimal import Decimal  # late: few tolerate anything

    return abs(Decimal(repr(wish)) - Decimal(repr(got))) <= Decimal(repr(tolerance))


def check_tolerance(place: str, tolerance: float) -> None:
    """A tolerance below 0 makes nothing equal, not even a number to itself."""
    if not 0 <= tolerance < inf:
        raise ValueError(f"{place}: found {tolerance:g}, expected a number from 0 on")


def _number(thing: Json) -> TypeGuard[int | float]:
    return isinstance(thing, int | float) and not isinstance(thing, bool)


def _mapping(args: Json) -> Mapping[str, Json]:
    """Arguments by name; those that a recorder gives without names get the empty one."""
    if args is None:
        return {}
    return args if isinstance(args, dict) else {"": args}
