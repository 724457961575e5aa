"""Versions of golden data: diffs, releases and reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from carob.schema.base import Json, Struct
from carob.schema.case import Lineage
from carob.schema.problem import Loss

ChangeLevel = Literal["major", "minor", "patch"]
Bump = Literal["major", "minor", "patch", "none"]
ChangeKind = Literal["added", "removed", "changed"]
LintState = Literal["passed", "partial", "skipped"]
"""`partial` if a package that some of the rules need is not installed."""


class Change(Struct, frozen=True):
    """One difference. `case` is `None` for the dataset itself, `field` for a case as a whole."""

    case: str | None
    field: str | None
    kind: ChangeKind
    level: ChangeLevel
    old: Json = None
    new: Json = None
    user: str | None = None
    """The first user message of the case, for display."""


class Diff(Struct, frozen=True):
    """The changes between two versions of golden data, and the required bump."""

    bump: Bump
    changes: Sequence[Change] = ()
    before: int = 0
    """Cases in the old version."""
    after: int = 0
    lost: Sequence[Loss] = ()
    """Fields of the old version without equivalent in the new format."""


class ReleaseCounts(Struct, frozen=True, omit_defaults=False):
    """The number of cases in a release, and of changes since the previous one."""

    before: int
    after: int
    added: int = 0
    changed: int = 0
    removed: int = 0


class PreviousRelease(Struct, frozen=True, omit_defaults=False):
    """The previous release and its seal: a link of the chain."""

    version: str
    seal: str


class Release(Struct, frozen=True, omit_defaults=False, forbid_unknown_fields=True, kw_only=True):
    """An immutable dataset version, as stored in `release.json`."""

    schema: str
    name: str
    version: str
    bump: Bump | None
    """The bump that the changes require; `None` for the first release."""
    because: str | UnsetType = UNSET
    """Why the version is lower than that."""
    digest: str
    """Of the content of the data, as in the results of runs."""
    format: str
    file: str
    files: dict[str, str]
    """The digest of the bytes of each file."""
    cases: ReleaseCounts
    released_at: str
    """ISO 8601, UTC."""
    released_by: str
    commit: str | None
    """The git commit that was checked out."""
    made_for: tuple[str, ...] = msgspec.field(name="for")
    """The versions of models or agents that it was released for."""
    lint: LintState | UnsetType = UNSET
    """Whether the error-level lint rules passed. Older releases do not record it."""
    unreviewed_synthetic: int | UnsetType = UNSET
    """The number of synthetic cases that nobody had reviewed, if they were allowed."""
    previous: PreviousRelease | None
    seal: str
    """The digest of all of the above."""


ReviewStatus = Literal["draft", "reviewed", "approved"]


class PastReview(Struct, frozen=True, omit_defaults=False):
    """An earlier review of a case, as far as it was recorded."""

    status: str | None
    by: str | None
    at: str | None


class Review(Struct, frozen=True, omit_defaults=False):
    """The review status and the lineage of a case."""

    case: str
    status: ReviewStatus
    reviewed_at: str | None
    lineage: Lineage
    history: tuple[PastReview, ...] = ()
    """Earlier reviews, oldest first."""
    position: int = 0
    """The number of the case in its dataset, from 1."""
    user: str | None = None
    """The first user message."""
