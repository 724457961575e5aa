"""K503 and K504: how many cases a dataset needs for what it is used for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from carob.datasets.lint.check import WHOLE, Found, Item
from carob.schema import Dataset, DatasetUse


class _Range(NamedTuple):
    least: int
    most: int | None

    def __str__(self) -> str:
        return f"{self.least} to {self.most}" if self.most else f"{self.least} or more"


SIZES: dict[DatasetUse, _Range] = {
    "development": _Range(10, 20),
    "pre-release": _Range(50, 100),
    "regression": _Range(100, None),
    "production": _Range(500, None),
}


class Size:
    rules = ("K503", "K504")

    def __init__(self, use: DatasetUse | None) -> None:
        self._use: DatasetUse | None = use

    def see(self, item: Item) -> Iterable[Found]:
        return ()

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        if self._use is None:
            yield _unknown(cases)
            return
        size = SIZES[self._use]
        wanted = f"{cases} cases, expected {size} for {self._use}"
        if cases < size.least:
            missing = f"add {size.least - cases}: what fails between so few is mostly chance"
            yield Found("K503", WHOLE, wanted, missing)
        elif size.most is not None and cases > size.most:
            hint = "every run costs more time: keep a part of it, with `carob subset`"
            yield Found("K503", WHOLE, wanted, hint)


def _unknown(cases: int) -> Found:
    fitting = [use for use, size in SIZES.items() if cases >= size.least]
    enough = f"enough for {', '.join(fitting)}" if fitting else "too few for any use"
    noun = "case" if cases == 1 else "cases"
    return Found("K504", WHOLE, f"{cases} {noun}: {enough}", "say what it is for with --use")
