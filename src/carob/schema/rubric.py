from __future__ import annotations

from carob.schema.noun import Noun


class Rubric(Noun, frozen=True):
    """One property that an answer should have, in words a judge can check."""

    id: str
    text: str
    description: str | None = None
    type: str | None = None
