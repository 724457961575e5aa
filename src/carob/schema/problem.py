"""Problems in files, conversion reports, and listeners for progress and problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, cast

import msgspec

from carob.schema.base import Struct

T = TypeVar("T")
Severity = Literal["error", "warning", "note"]


class Problem(Struct, frozen=True, omit_defaults=False):
    """Something wrong in a file: where, what was found against what was expected, and a hint."""

    where: str
    message: str
    hint: str | None = None
    severity: Severity = "error"


class Validation(Struct, frozen=True, omit_defaults=False):
    """The validation result of one file."""

    path: str
    format: str | None
    valid: bool
    cases: int
    problems: tuple[Problem, ...] = ()


class Loss(Struct, frozen=True, omit_defaults=False):
    """A field without equivalent in the target format. `case` is `None` for the dataset itself."""

    case: str | None
    field: str
    reason: str


class Conversion(Struct, frozen=True, omit_defaults=False):
    """The result of a conversion to another format."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    cases: int
    """The number of cases that were written."""
    losses: Sequence[Loss]
    carried: bool
    """Whether the lost fields are preserved for round-tripping."""
    omitted: tuple[Loss, ...] = ()
    """The cases that the target cannot hold, and why; among the losses as the field `$`."""
    notes: tuple[str, ...] = ()
    """What the source has besides fields, such as comments, that was not converted."""
    duplicates: tuple[str, ...] = ()
    """The cases that were skipped, because the file that cases are added to has them."""


ProgressListener: TypeAlias = Callable[[int, int], None]
"""Called with the completed and the total number of items."""
ProblemListener: TypeAlias = Callable[[Problem], None]
"""Called with each problem."""


def ignore(*_event: object) -> None:
    """A listener that does nothing."""


def watch(items: Collection[T], progress: ProgressListener) -> Iterator[T]:
    """Iterate over items, and report how many of them are done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number, len(items))


class WatchedSequence(Sequence[T]):
    """A sequence that reports how far it was iterated."""

    def __init__(self, items: Sequence[T], progress: ProgressListener) -> None:
        self._items, self._progress = items, progress

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return cast("Any", self._items)[index]

    def __iter__(self) -> Iterator[T]:
        return watch(self._items, self._progress)
