from __future__ import annotations

from carob.schema import Json, Noun


class MetricChoice(Noun, frozen=True):
    """A metric that a user asked for, under the name that the user wrote."""

    name: str
    params: dict[str, Json] = {}
    threshold: float | None = None
    """`None` is "the metric's own"."""
    definition: dict[str, Json] = {}
    """What the file says the metric is, if it is not one that is installed: a template for a
    judge, or where somebody's code is."""
    rubric: str | None = None
    """File with the rubric of a judge of the user's own."""
    source: str | None = None
    """The config that asks for it, once it is known that no flag changed what it says."""
