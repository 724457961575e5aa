from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from carob.schema import CaseResult

Attempted: TypeAlias = Sequence[CaseResult]
"""The results of one case in one run, more than one if it was repeated."""


class Pair(NamedTuple):
    """A case that is the same in both runs."""

    case: str
    before: Attempted
    after: Attempted
