from __future__ import annotations

from typing import Literal

from carob.schema.lineage import Lineage
from carob.schema.noun import Noun

ReviewStatus = Literal["draft", "reviewed", "approved"]


class Review(Noun, frozen=True, omit_defaults=False):
    """What became of a case in review, and where the case comes from."""

    case: str
    status: ReviewStatus
    reviewed_at: str | None
    lineage: Lineage
