from __future__ import annotations

from carob.schema.noun import Noun
from carob.schema.run import CaseResult, RunSummary


class Verdicts(Noun, frozen=True):
    """What scoring profiles say of scores that existed already."""

    cases: tuple[CaseResult, ...]
    profiles: dict[str, RunSummary]
    """The cases of each profile, summed up."""
