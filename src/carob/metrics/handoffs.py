from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Score, Trace, Unscored
from carob.schema.scale import Scale


@dataclass(frozen=True, kw_only=True)
class AgentHandoffs(Metric):
    """How often one agent took over from another within a turn."""

    name: ClassVar[str] = "agent_handoffs"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("agents",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        agents = trace.agents
        if not agents:
            return Unscored(reason="no agent was recorded")
        turns = tuple(
            float(sum(before != after for before, after in pairwise(turn.agents)))
            if turn.agents
            else None
            for turn in trace.turns
        )
        total = sum(count for count in turns if count is not None)
        return Score(value=total, turns=turns, details={"agents": list(agents)})
