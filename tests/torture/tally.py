"""Counts and findings of a campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

UNDISTURBED = "ended before"
"""How the kind of an attempt begins that came to its end before it was disturbed."""


def total(counts: Mapping[str, int]) -> int:
    """The number of attempts that were disturbed."""
    return sum(number for kind, number in counts.items() if not kind.startswith(UNDISTURBED))


class Finding(NamedTuple):
    """Something that should not have happened."""

    what: str
    detail: str


@dataclass
class Tally:
    """How often something was tried, by kind, and what was found."""

    unit: str
    counts: Counter[str] = field(default_factory=Counter[str])
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def total(self) -> int:
        """The number of attempts, without those that ended before they were disturbed."""
        return total(self.counts)

    def count(self, kind: str) -> None:
        self.counts[kind] += 1

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.findings += other.findings
