"""Synthetic golden data: what must hold for a variant, and what a generation produced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from carob.schema.base import Struct
from carob.schema.problem import Loss

Holds = Literal["same", "changed", "ask", "refuse"]
"""What is expected of a variant: the calls and the answer of its parent, the calls with another
argument, a question to the user, or the statement that it cannot be done."""

SOURCE, PARENT, RELATION, HOLDS, SLOT = "source", "parent", "relation", "holds", "slot"
SYNTHETIC = "synthetic"
"""The value of `source` in the metadata of a synthetic case, and the keys of its lineage."""


class RelationInfo(Struct, frozen=True, omit_defaults=False):
    """A relation that variants are made by."""

    name: str
    holds: Holds
    summary: str


class CoverageRow(Struct, frozen=True, omit_defaults=False):
    """How many cases have a property, such as a tool that they call."""

    by: str
    value: str
    source: int
    """Cases of the source."""
    synthetic: int
    quota: int | None = None
    """The highest number of synthetic cases, if one was set."""


class SynthReport(Struct, frozen=True, omit_defaults=False):
    """What a generation produced."""

    cases: int
    parents: int
    """Cases of the source with at least one variant."""
    skipped: dict[str, int]
    """The numbers of variants that were not kept, by reason."""
    coverage: tuple[CoverageRow, ...]
    format: str
    losses: Sequence[Loss] = ()


class RelationInvariance(Struct, frozen=True, omit_defaults=False):
    """The variants of one relation in a run."""

    relation: str
    compared: int
    equal: int
    """Variants whose verdicts are those of their parent."""
    left_out: int
    """Variants that have no verdict, or whose parent has none."""


class BrokenVariant(Struct, frozen=True, omit_defaults=False):
    """A variant whose outcome differs from that of its parent."""

    case: str
    parent: str
    relation: str
    expected: str
    """The status of the parent."""
    actual: str


class Invariance(Struct, frozen=True, omit_defaults=False):
    """How far an agent behaves the same on variants that must not matter."""

    value: float | None
    """The share of equal outcomes; `None` if no variant could be compared."""
    compared: int
    left_out: int
    relations: tuple[RelationInvariance, ...]
    broken: tuple[BrokenVariant, ...]
