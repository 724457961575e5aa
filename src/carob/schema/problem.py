"""Who is told of what happens while work goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from carob.schema.base import Struct

Severity = Literal["error", "warning", "note"]


class Problem(Struct, frozen=True, omit_defaults=False):
    """Something wrong in a file: where, what was found against what was expected, and a hint."""

    where: str
    message: str
    hint: str | None = None
    severity: Severity = "error"


class Validation(Struct, frozen=True, omit_defaults=False):
    """What the check of one file found."""

    path: str
    format: str | None
    valid: bool
    cases: int
    problems: tuple[Problem, ...] = ()


class Loss(Struct, frozen=True, omit_defaults=False):
    """A field that the target format has no place for. `case` is `None` for the dataset itself."""

    case: str | None
    field: str
    reason: str


class Conversion(Struct, frozen=True, omit_defaults=False):
    """What became of a dataset in another format."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    cases: int
    losses: tuple[Loss, ...]
    carried: bool
    """Whether the target file holds what it has no place for, so that the way back is exact."""


ProgressListener: TypeAlias = Callable[[int, int], None]
"""Told how much of how much is done."""
ProblemListener: TypeAlias = Callable[[Problem], None]
"""Told each problem."""


def ignore(*_told: object) -> None:
    """Listens to nothing."""
