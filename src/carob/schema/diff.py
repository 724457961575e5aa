from __future__ import annotations

from typing import Literal

from carob.schema.conversion import Loss
from carob.schema.noun import Json, Noun

Level = Literal["major", "minor", "patch"]
Bump = Literal["major", "minor", "patch", "none"]
Kind = Literal["added", "removed", "changed"]


class Change(Noun, frozen=True):
    """One difference. `case` is `None` for the dataset itself, `field` for a case as a whole."""

    case: str | None
    field: str | None
    kind: Kind
    level: Level
    old: Json = None
    new: Json = None
    user: str | None = None
    """What the user says first in the case, for readers to know it by."""


class Diff(Noun, frozen=True):
    """What changed between two versions of golden data, and the bump that it demands."""

    bump: Bump
    changes: tuple[Change, ...] = ()
    before: int = 0
    """Cases in the old version."""
    after: int = 0
    lost: tuple[Loss, ...] = ()
    """What the old version says that the new version's format has no place for."""
