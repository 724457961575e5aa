"""What a metric is, and how one is asked for a score."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypeAlias

from carob.metrics.needs import Need
from carob.schema import Case, Failed, Score, Trace, Unscored
from carob.schema.scale import Scale

Outcome: TypeAlias = Score | Unscored | Failed


class Metric(Protocol):
    """Scores one (case, trace) pair: a frozen dataclass whose fields are its parameters."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Changes when the same pair would score differently."""
    scale: ClassVar[Scale] = (0.0, 1.0)
    """Lowest and highest value; `None` is "no upper end"."""
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    threshold: ClassVar[float | None] = None
    """Passed from here on unless the user says otherwise; `None` is information only."""
    needs: ClassVar[tuple[Need, ...]] = ()
    """What case and trace must have for a score."""
    imports: ClassVar[tuple[str, ...]] = ()
    """Optional packages without which it cannot work."""
    judged: ClassVar[bool] = False
    """Whether it asks a model."""

    def score(self, case: Case, trace: Trace) -> Outcome:
        """A number on the scale; or that the metric does not apply, and why; or how it broke."""
        ...


def evaluate(metric: Metric, case: Case, trace: Trace) -> Outcome:
    """The outcome for one pair. A metric that raises fails here, and nothing else suffers."""
    try:
        return metric.score(case, trace)
    except Exception as error:  # noqa: BLE001 - whatever a metric raises becomes data
        return Failed(kind=type(error).__name__, message=str(error))
