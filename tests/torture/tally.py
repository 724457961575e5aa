"""Counts and findings of a campaign."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


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
        return sum(self.counts.values())

    def count(self, kind: str) -> None:
        self.counts[kind] += 1

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.findings += other.findings
