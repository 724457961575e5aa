from __future__ import annotations

from typing import Literal

from carob.schema.noun import Json, Noun
from carob.schema.scale import Scale


class MetricInfo(Noun, frozen=True, omit_defaults=False):
    """A metric that is installed: what it means, what it needs, and on which scale it speaks."""

    name: str
    version: int
    meaning: str
    """The first sentence of its description."""
    description: str
    needs: tuple[str, ...]
    scale: Scale
    better: Literal["higher", "lower"]
    threshold: float | None
    """The default one; `None` for a metric that informs."""
    judged: bool
    params: dict[str, Json]
    """The parameters and their defaults."""
    packages: tuple[str, ...]
    """Optional packages that it needs."""
