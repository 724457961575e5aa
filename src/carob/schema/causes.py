"""Why cases failed: the differences that they have in common."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct

CauseKind = Literal[
    "missing call",
    "unexpected call",
    "wrong argument",
    "missing turn",
    "unexpected turn",
    "low score",
    "not scored",
    "error",
]


class Cause(Struct, frozen=True, order=True):
    """One difference between golden case and trace, without the values of the case."""

    kind: CauseKind
    subject: str
    """The tool, its argument as `tool.argument`, or the metric."""


class CauseGroup(Struct, frozen=True, omit_defaults=False):
    """The cases that have a cause in common."""

    cause: Cause
    cases: int
    examples: tuple[str, ...]
    """The first few cases, in the order of the dataset."""
