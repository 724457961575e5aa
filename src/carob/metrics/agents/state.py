"""The `state_management_fidelity` metric: the session state at the end of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar, NamedTuple

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.tools.arguments import check_tolerance, within_tolerance
from carob.metrics.tools.calls import format_value
from carob.schema import Case, Json, Score, Trace, Unscored

_MAX_SHOWN = 10  # paths in a reason


class StatePath(NamedTuple):
    """A path of the expected state; `mismatch` describes what is wrong there."""

    name: str
    mismatch: str | None


@dataclass(frozen=True, kw_only=True)
class StateFidelity(Metric):
    """Share of the expected session state found in the final state.

    Matching paths / expected paths. A path such as `cart.items.0.sku` leads to a value that is
    neither an object nor a list. Types count: `1` differs from `"1"` and `true`, but equals `1.0`.
    Extra keys are allowed; extra list elements are not.

    `ignore` lists paths to skip, with `*` for any text (`cart.*.id`). `tolerance` is the largest
    difference at which two numbers are equal.
    """

    name: ClassVar[str] = "state_management_fidelity"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("state", "case.state")

    ignore: tuple[str, ...] = ()
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        check_tolerance("tolerance", self.tolerance)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if case.state is None:
            return Unscored(reason="the case expects no state", not_applicable=True)
        if trace.state is None:
            return Unscored(reason="the session state was not recorded")
        paths = [
            path
            for path in self._compare("", case.state, trace.state)
            if not self._is_ignored(path)
        ]
        if not paths:
            return Unscored(
                reason="every expected path is ignored, or the expected state is empty",
                not_applicable=True,
            )
        differing = [path for path in paths if path.mismatch is not None]
        return Score(
            value=(len(paths) - len(differing)) / len(paths),
            reason=_describe(differing),
            details={"paths": len(paths), "differing": [path.name for path in differing]},
        )

    def _is_ignored(self, path: StatePath) -> bool:
        return any(fnmatchcase(path.name, mask) for mask in self.ignore)

    def _compare(self, name: str, expected: Json, actual: Json) -> Iterator[StatePath]:
        if isinstance(expected, Mapping) and expected and isinstance(actual, Mapping):
            for key, part in expected.items():
                path = f"{name}.{key}" if name else key
                if key in actual:
                    yield from self._compare(path, part, actual[key])
                else:
                    yield from _missing_paths(path, part)
        elif isinstance(expected, list) and isinstance(actual, list):
            yield from self._compare_lists(name, expected, actual)
        elif expected == {} and name == "":
            return
        elif isinstance(expected, Mapping | list) and expected:
            found = f"nothing: {name} is {format_value(actual)}"
            yield from _missing_paths(name, expected, found)
        else:
            same = self._same(expected, actual)
            message = f"{name}: expected {format_value(expected)}, got {format_value(actual)}"
            yield StatePath(name, None if same else message)

    def _compare_lists(
        self, name: str, expected: list[Json], actual: list[Json]
    ) -> Iterator[StatePath]:
        for index, part in enumerate(expected):
            if index < len(actual):
                yield from self._compare(f"{name}.{index}", part, actual[index])
            else:
                yield from _missing_paths(f"{name}.{index}", part)
        if len(actual) > len(expected):
            message = f"{name}: expected {len(expected)} elements, got {len(actual)}"
            yield StatePath(name, message)
        elif not expected:
            yield StatePath(name, None)

    def _same(self, expected: Json, actual: Json) -> bool:
        # In Python `True == 1`, but in JSON they are different values.
        if isinstance(expected, bool) or isinstance(actual, bool):
            return expected is actual
        if isinstance(expected, int | float) and isinstance(actual, int | float):
            return within_tolerance(expected, actual, self.tolerance)
        return type(expected) is type(actual) and expected == actual


def _missing_paths(name: str, expected: Json, found: str = "nothing") -> Iterator[StatePath]:
    """Return every path below an expected value that is missing or of another type."""
    parts: list[tuple[str, Json]] = []
    if isinstance(expected, Mapping):
        parts = [(f"{name}.{key}", part) for key, part in expected.items()]
    elif isinstance(expected, list):
        parts = [(f"{name}.{index}", part) for index, part in enumerate(expected)]
    for path, part in parts:
        yield from _missing_paths(path, part, found)
    if not parts:
        yield StatePath(name, f"{name}: expected {format_value(expected)}, got {found}")


def _describe(differing: list[StatePath]) -> str:
    lines = [path.mismatch for path in differing[:_MAX_SHOWN] if path.mismatch is not None]
    more = len(differing) - len(lines)
    return "; ".join([*lines, f"and {more} more"] if more else lines)
