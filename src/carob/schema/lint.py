"""Lint rules and findings."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from msgspec import UNSET, UnsetType

from carob.schema.base import Struct
from carob.schema.notebook import html_table
from carob.schema.problem import Severity

DatasetPurpose = Literal["development", "pre-release", "regression", "production"]
"""The purpose of a dataset, which determines its recommended size."""
_LEVELS: tuple[Severity, ...] = ("error", "warning", "note")


class LintRule(Struct, frozen=True, omit_defaults=False):
    """A lint rule for golden data."""

    id: str
    name: str
    level: Severity
    summary: str
    """What the rule finds, in one sentence."""


class Finding(Struct, frozen=True, omit_defaults=False):
    """A violation of a lint rule."""

    rule: str
    level: Severity
    case: str | None
    """The id of the case; `None` if it is about the dataset as a whole."""
    where: str
    message: str
    hint: str | None = None
    line: int | None = None
    offset: int | UnsetType = UNSET
    """In the text at `where`, in characters."""
    length: int | UnsetType = UNSET
    extra: str | UnsetType = UNSET
    """The extra to install, if a rule could not be checked without its packages."""


class LintedFile(Struct, frozen=True, omit_defaults=False):
    """The findings in one file, in the order of the file."""

    path: str
    format: str
    cases: int
    findings: tuple[Finding, ...] = ()
    masked: int | UnsetType = UNSET
    """The number of masked texts, if masking was requested."""

    def __repr__(self) -> str:
        return f"<LintedFile {self._describe()}>"

    def _repr_html_(self) -> str:
        columns = ("level", "rule", "case", "where", "message", "hint")
        rows = [[getattr(finding, name) for name in columns] for finding in self.findings]
        return html_table(self._describe(), columns, rows)

    def _describe(self) -> str:
        counts = Counter(finding.level for finding in self.findings)
        levels = [
            f"{counts[level]} {level}{'s' if counts[level] > 1 else ''}"
            for level in _LEVELS
            if counts[level]
        ]
        return f"{self.path}: {', '.join(levels) or 'no findings'}"
