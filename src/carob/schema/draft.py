"""Golden datasets that a server edits: what is listed, the draft of one, and its changes."""

from __future__ import annotations

from carob.schema.base import Struct
from carob.schema.case import Case
from carob.schema.problem import Problem
from carob.schema.versions import Diff, ReviewStatus


class GoldenEntry(Struct, frozen=True, omit_defaults=False):
    """A dataset in the folder of golden data."""

    name: str
    file: str | None
    """The name of its file; `None` if only its releases are left."""
    format: str | None
    cases: int | None
    """`None` if the file cannot be read."""
    version: str | None
    """The newest release."""
    problems: tuple[Problem, ...] = ()
    """Why the file cannot be read."""


class DraftCase(Struct, frozen=True, omit_defaults=False):
    """A case of a draft."""

    case: Case
    digest: str
    """Changes with the case: whoever replaces the case says which state they have seen."""
    review: ReviewStatus


class DraftCasePage(Struct, frozen=True, omit_defaults=False):
    """A page of the cases of a draft, in the order of the file."""

    items: tuple[DraftCase, ...]
    next: str | None
    """Where the next page starts; `None` on the last."""
    total: int
    """Cases that meet the conditions, on all pages."""


class Draft(Struct, frozen=True, omit_defaults=False):
    """The current state of a golden file, against its newest release."""

    name: str
    file: str
    format: str
    cases: int
    description: str | None
    digest: str
    """Of the content."""
    version: str | None
    """The newest release; `None` before the first."""
    next_version: str | None
    """The version that the changes require; `None` if nothing changed."""
    diff: Diff | None
    """The changes since the newest release; `None` before the first."""
