"""Comparison of the arguments of an expected call with those of an actual call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple, TypeAlias, TypeGuard

from carob.metrics.patterns import compile_pattern
from carob.metrics.tools.calls import format_value
from carob.schema import Json, ToolCall
from carob.schema.equality import json_equal

Comparator: TypeAlias = Literal["exact", "regex", "ignore_case", "any"] | float
"""A number is the tolerance within which two numbers are equal."""

ArgsMode: TypeAlias = Literal["exact", "ignore", "subset", "superset"]


class ArgumentCheck(NamedTuple):
    """The comparison of one argument; `mismatch` describes what is wrong."""

    mismatch: str | None
    extra: bool = False
    """Whether the case does not expect the argument."""


@dataclass(frozen=True, kw_only=True)
class ArgumentMatcher:
    """Compares arguments.

    With `subset` the actual arguments must be among the expected ones; with `superset` they must
    include the expected ones.
    """

    mode: ArgsMode = "exact"
    comparators: Mapping[str, Comparator] = field(default_factory=dict[str, Comparator])

    def check(self, expected: ToolCall, actual: ToolCall) -> list[ArgumentCheck]:
        """Check each argument that counts; none if the case states no arguments."""
        if self.mode == "ignore" or expected.args is None:
            return []
        expected_args, actual_args = _args_by_name(expected.args), _args_by_name(actual.args)
        return list(self._check_args(expected.name, expected_args, actual_args))

    def _check_args(
        self, tool: str, expected: Mapping[str, Json], actual: Mapping[str, Json]
    ) -> Iterator[ArgumentCheck]:
        for key, value in expected.items():
            if key in actual:
                yield ArgumentCheck(self._mismatch(tool, key, value, actual[key]))
            elif self._comparator(tool, key) != "any":
                message = f"{key}: expected {format_value(value)}, got nothing"
                yield ArgumentCheck(None if self.mode == "subset" else message)
        for key, value in actual.items():
            if key not in expected and self._comparator(tool, key) != "any":
                message = f"{key}: unexpected {format_value(value)}"
                yield ArgumentCheck(None if self.mode == "superset" else message, extra=True)

    def _mismatch(self, tool: str, key: str, expected: Json, actual: Json) -> str | None:
        if values_match(expected, actual, self._comparator(tool, key)):
            return None
        return f"{key}: expected {format_value(expected)}, got {format_value(actual)}"

    def _comparator(self, tool: str, key: str) -> Comparator:
        """Return the comparator of `tool.argument` if there is one, else of `argument`."""
        return self.comparators.get(f"{tool}.{key}", self.comparators.get(key, "exact"))


def values_match(expected: Json, actual: Json, comparator: Comparator) -> bool:
    """Tell whether a value is as expected. A value of another type never is, except for `any`."""
    if comparator == "any":
        return True
    if isinstance(expected, str) and isinstance(actual, str):
        if comparator == "regex":
            return compile_pattern(expected).fullmatch(actual) is not None
        if comparator == "ignore_case":
            return expected.casefold() == actual.casefold()
    if _is_number(expected) and _is_number(actual) and isinstance(comparator, int | float):
        return within_tolerance(expected, actual, comparator)
    # Python compares fast, but `True == 1`: an agent that sends 1 for true sends something else.
    return expected == actual and json_equal(expected, actual)


def within_tolerance(expected: float, actual: float, tolerance: float) -> bool:
    """Tell whether two numbers differ by at most the tolerance, compared as decimals."""
    if expected == actual or not tolerance:
        return expected == actual
    from decimal import Decimal  # late: tolerances are rare

    # As binary fractions, 1.1 and 1 differ by more than 0.1.
    return abs(Decimal(repr(expected)) - Decimal(repr(actual))) <= Decimal(repr(tolerance))


def check_tolerance(where: str, tolerance: float) -> None:
    """Raise `ValueError` for a tolerance below 0, with which no number would equal itself."""
    if not 0 <= tolerance < inf:
        raise ValueError(f"{where}: found {tolerance:g}, expected 0 or more")


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _args_by_name(args: Json) -> Mapping[str, Json]:
    """Return arguments by name. Some frameworks record a bare value: its name is empty."""
    if args is None:
        return {}
    return args if isinstance(args, dict) else {"": args}
