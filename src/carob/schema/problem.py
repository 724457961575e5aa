from __future__ import annotations

from typing import Literal

from carob.schema.noun import Noun

Severity = Literal["error", "warning", "note"]


class Problem(Noun, frozen=True, omit_defaults=False):
    """Something wrong in a file: where, what was found against what was expected, and a hint."""

    where: str
    message: str
    hint: str | None = None
    severity: Severity = "error"


class Validation(Noun, frozen=True, omit_defaults=False):
    """What the check of one file found."""

    path: str
    format: str | None
    valid: bool
    cases: int
    problems: tuple[Problem, ...] = ()
