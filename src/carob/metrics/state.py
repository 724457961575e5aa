from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar, NamedTuple

from carob.metrics.arguments import check_tolerance, within
from carob.metrics.calls import value
from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Json, Score, Trace, Unscored

_TOLD = 10  # differing paths in a reason


class Path(NamedTuple):
    """An expected place in the state, and what is wrong there."""

    name: str
    wrong: str | None


@dataclass(frozen=True, kw_only=True)
class StateFidelity(Metric):
    """Share of the expected session state that the state at the end has.

    Matching paths / expected paths, where a path leads to a value that is no object and no list,
    such as `cart.items.0.sku`. Types count: `1` is not `"1"` and not `true`, but `50` is `50.0`.
    What the state holds beyond the expected is free, except that a list must not be longer.
    `ignore` masks paths (`cart.*.id`; `*` is any text); `tolerance` is the largest difference at
    which two numbers are still equal.
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
            return Unscored(reason="the case expects no state")
        if trace.state is None:
            return Unscored(reason="the session state was not recorded")
        paths = [path for path in self._compare("", case.state, trace.state) if self._counts(path)]
        if not paths:
            return Unscored(reason="the case expects nothing of the state")
        wrong = [path for path in paths if path.wrong is not None]
        return Score(
            value=(len(paths) - len(wrong)) / len(paths),
            reason=_told(wrong),
            details={"paths": len(paths), "differing": [path.name for path in wrong]},
        )

    def _counts(self, path: Path) -> bool:
        return not any(fnmatchcase(path.name, mask) for mask in self.ignore)

    def _compare(self, name: str, wish: Json, got: Json) -> Iterator[Path]:
        if isinstance(wish, Mapping) and wish and isinstance(got, Mapping):
            for key, part in wish.items():
                place = f"{name}.{key}" if name else key
                if key in got:
                    yield from self._compare(place, part, got[key])
                else:
                    yield from _absent(place, part)
        elif isinstance(wish, list) and isinstance(got, list):
            yield from self._lists(name, wish, got)
        elif wish == {} and name == "":
            return
        elif isinstance(wish, Mapping | list) and wish:
            yield from _absent(name, wish, f"nothing, for {name} is {value(got)}")
        else:
            same = self._same(wish, got)
            yield Path(name, None if same else f"{name}: expected {value(wish)}, got {value(got)}")

    def _lists(self, name: str, wish: list[Json], got: list[Json]) -> Iterator[Path]:
        for index, part in enumerate(wish):
            if index < len(got):
                yield from self._compare(f"{name}.{index}", part, got[index])
            else:
                yield from _absent(f"{name}.{index}", part)
        if len(got) > len(wish):
            yield Path(name, f"{name}: expected {len(wish)} elements, got {len(got)}")
        elif not wish:
            yield Path(name, None)

    def _same(self, wish: Json, got: Json) -> bool:
        if isinstance(wish, bool) or isinstance(got, bool):
            return wish is got
        if isinstance(wish, int | float) and isinstance(got, int | float):
            return within(wish, got, self.tolerance)
        return type(wish) is type(got) and wish == got


def _absent(name: str, wish: Json, got: str = "nothing") -> Iterator[Path]:
    """Every path below a place that is not there, or is something else."""
    parts: list[tuple[str, Json]] = []
    if isinstance(wish, Mapping):
        parts = [(f"{name}.{key}", part) for key, part in wish.items()]
    elif isinstance(wish, list):
        parts = [(f"{name}.{index}", part) for index, part in enumerate(wish)]
    for place, part in parts:
        yield from _absent(place, part, got)
    if not parts:
        yield Path(name, f"{name}: expected {value(wish)}, got {got}")


def _told(wrong: list[Path]) -> str:
    lines = [path.wrong for path in wrong[:_TOLD] if path.wrong is not None]
    more = len(wrong) - len(lines)
    return "; ".join([*lines, f"and {more} more"] if more else lines)
