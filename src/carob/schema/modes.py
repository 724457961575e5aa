from __future__ import annotations

from carob.schema.noun import Noun


class PairedMetric(Noun, frozen=True, omit_defaults=False):
    """A metric in two modes, over the scenarios that were scored in both."""

    pairs: int
    means: tuple[float, float]
    difference: float
    """Mean of second minus first."""
    first_higher: int
    second_higher: int
    equal: int


class ModeComparison(Noun, frozen=True, omit_defaults=False):
    """Two workflow modes on the same scenarios and questions."""

    modes: tuple[str, str]
    pairs: int
    passed: tuple[int, int]
    """Scenarios of which every pair of case and trace passed."""
    composite: PairedMetric | None
    metrics: dict[str, PairedMetric]
