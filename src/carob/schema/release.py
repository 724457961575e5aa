from __future__ import annotations

import msgspec

from carob.schema.diff import Bump
from carob.schema.noun import Noun


class CountedCases(Noun, frozen=True, omit_defaults=False):
    """How many cases a release has, and how many were touched since the one before."""

    before: int
    after: int
    added: int = 0
    changed: int = 0
    removed: int = 0


class Previous(Noun, frozen=True, omit_defaults=False):
    """The release before, by its seal: a link of the chain."""

    version: str
    seal: str


class Release(Noun, frozen=True, omit_defaults=False, forbid_unknown_fields=True):
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
    cases: CountedCases
    released_at: str
    """ISO 8601, UTC."""
    released_by: str
    commit: str | None
    """The git commit that was checked out."""
    made_for: tuple[str, ...] = msgspec.field(name="for")
    """The versions of models or agents that it was released for."""
    previous: Previous | None
    seal: str
    """The digest of all of the above."""
