from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from carob.schema.base import Struct
from carob.schema.problem import Severity

DatasetPurpose = Literal["development", "pre-release", "regression", "production"]
"""What a dataset is for, which says how large it should be."""


class LintRule(Struct, frozen=True, omit_defaults=False):
    """Something that golden data should not have."""

    id: str
    name: str
    level: Severity
    summary: str
    """What the rule finds, in one sentence."""


class Finding(Struct, frozen=True, omit_defaults=False):
    """A place where golden data does not keep a rule."""

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


class LintedFile(Struct, frozen=True, omit_defaults=False):
    """What was found in one file, in the order of the file."""

    path: str
    format: str
    cases: int
    findings: tuple[Finding, ...] = ()
    masked: int | UnsetType = UNSET
    """How many texts were masked, if that was asked for."""
