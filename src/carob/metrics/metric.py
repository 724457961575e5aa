"""The `Metric` protocol, and how a metric is evaluated."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol, TypeAlias

from carob.metrics.needs import Need, known_gap
from carob.schema import Case, Failed, Score, Trace, Unscored
from carob.schema.outcome import Scale

Outcome: TypeAlias = Score | Unscored | Failed


class Metric(Protocol):
    """Scores one (case, trace) pair. A frozen dataclass whose fields are its parameters."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Bumped when the same pair would score differently."""
    scale: ClassVar[Scale] = (0.0, 1.0)
    """Lowest and highest value; `None` means no upper limit."""
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    threshold: ClassVar[float | None] = None
    """Default threshold; without one the metric is informational."""
    needs: ClassVar[tuple[Need, ...]] = ()
    """The parts of the case and the trace without which there is no score."""
    imports: ClassVar[tuple[str, ...]] = ()
    """Optional packages that must be installed."""
    judged: ClassVar[bool] = False
    """Whether a model is asked."""
    waits: ClassVar[bool] = False
    """Whether scoring waits for another process: several pairs are then scored at a time, in
    threads, and `close` is called at the end."""

    def score(self, case: Case, trace: Trace) -> Outcome:
        """Return a number on the scale, or why there is none, or how the metric failed."""
        ...

    def close(self) -> None:
        """Release what the metric holds. Most hold nothing."""


def evaluate(metric: Metric, case: Case, trace: Trace) -> Outcome:
    """Score one pair. An exception becomes `Failed`, so that other pairs are still scored."""
    try:
        outcome = metric.score(case, trace)
    except Exception as error:  # noqa: BLE001 - whatever a metric raises becomes data
        return Failed(kind=type(error).__name__, message=str(error))
    return without_gap(outcome, metric, trace) if trace.gaps else outcome


def without_gap(outcome: Outcome, metric: Metric, trace: Trace) -> Outcome:
    """Return the outcome, unless it rests on a part of the trace that is known to be missing."""
    gap = known_gap(metric, trace) if isinstance(outcome, Score) else None
    return outcome if gap is None else Unscored(reason=gap)
