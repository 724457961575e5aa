"""TODO."""

from __future__ import annotations

from typing import Literal

import msgspec

from carob.schema.base import Json, Struct
from carob.schema.case import Lineage
from carob.schema.problem import Loss

ChangeLevel = Literal["major", "minor", "patch"]
Bump = Literal["major", "minor", "patch", "none"]
ChangeKind = Literal["added", "removed", "changed"]


class Change(Struct, frozen=True):
    """One difference. `case` is `None` for the dataset itself, `field` for a case as a whole."""

    case: str | None
    field: str | None
    kind: ChangeKind
    level: ChangeLevel
    old: Json = None
    new: Json = None
    user: str | None = None
    """What the user says first in the case, for readers to know it by."""


class Diff(Struct, frozen=True):
    """What changed between two versions of golden data, and the bump that it demands."""

    bump: Bump
    changes: tuple[Change, ...] = ()
    before: int = 0
    """Cases in the old version."""
    after: int = 0
    lost: tuple[Loss, ...] = ()
    """What the old version says that the new version's format has no place for."""


class ReleaseCounts(Struct, frozen=True, omit_defaults=False):
    """How many cases a release has, and how many were touched since the one before."""

    before: int
    after: int
    added: int = 0
    changed: int = 0
    removed: int = 0


class PreviousRelease(Struct, frozen=True, omit_defaults=False):
    """The release before, by its seal: a link of the chain."""

    version: str
    seal: str


class Release(Struct, frozen=True, omit_defaults=False, forbid_unknown_fields=True):
    """A dataset version that can no longer change, as its `release.json` says it."""

    schema: str
    name: str
    version: str
    bump: Bump | None
    """`None` for the first one."""
    digest: str
    """Of what the data says, as results name it."""
    format: str
    file: str
    files: dict[str, str]
    """The digest of each file, byte by byte."""
    cases: ReleaseCounts
    released_at: str
    """ISO 8601, UTC."""
    released_by: str
    commit: str | None
    """The git commit that was checked out."""
    made_for: tuple[str, ...] = msgspec.field(name="for")
    """The versions of models or agents that it was released for."""
    previous: PreviousRelease | None
    seal: str
    """The digest of all of the above."""


ReviewStatus = Literal["draft", "reviewed", "approved"]


class Review(Struct, frozen=True, omit_defaults=False):
    """What became of a case in review, and where the case comes from."""

    case: str
    status: ReviewStatus
    reviewed_at: str | None
    lineage: Lineage
