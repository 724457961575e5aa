"""Metamorphic relations: how a variant of a case is made, and what must hold for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from carob.schema import Case
from carob.schema.synth import Holds
from carob.synth.world import World

T = TypeVar("T")


class Draw:
    """Seeded choices that are the same on every machine.

    Python promises the same numbers for `random()` alone; `choice` and `shuffle` have changed
    between versions.
    """

    def __init__(self, *seed: str) -> None:
        self._random = Random("\0".join(seed)).random  # noqa: S311 - repeatable on purpose

    def index(self, size: int) -> int:
        """A number from 0 to `size` - 1."""
        return int(self._random() * size)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.index(len(items))]

    def order(self, items: Sequence[T]) -> list[T]:
        """The items in a random order."""
        rest = list(items)
        return [rest.pop(self.index(len(rest))) for _ in items]


class Variant(NamedTuple):
    """A case made from another one."""

    case: Case
    slot: str | None = None
    """The argument that was changed or removed."""
    partner: str | None = None
    """The other case that it was made from."""


class Relation(NamedTuple):
    """A way to vary cases. `vary` returns `None` for a case that it does not apply to, or whose
    expectations it could not keep right."""

    name: str
    holds: Holds
    summary: str
    vary: Callable[[Case, Draw, World], Variant | None]
    version: int = 1
