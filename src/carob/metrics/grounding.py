from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Score, Trace, Unscored
from carob.schema.scale import Scale


@dataclass(frozen=True, kw_only=True)
class GroundingUtilization(Metric):
    """How many chunks of retrieved text the responses stand on."""

    name: ClassVar[str] = "grounding_utilization"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    needs: ClassVar[tuple[Need, ...]] = ("grounding",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        turns = tuple(
            None if turn.grounding is None else float(len(turn.grounding)) for turn in trace.turns
        )
        known = [count for count in turns if count is not None]
        if not known:
            return Unscored(reason="grounding was not recorded")
        return Score(value=sum(known), turns=turns)
