from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Score, Trace, Unscored


@dataclass(frozen=True, kw_only=True)
class AgentRouting(Metric):
    """Share of the expected agents that were involved.

    Expected agents that the trace names / expected agents. Others may be involved too.
    """

    name: ClassVar[str] = "agent_routing"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("agents", "case.agents")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        expected = tuple(dict.fromkeys(case.agents or ()))
        if not expected:
            return Unscored(reason="the case expects no agents")
        involved = trace.agents
        if not involved:
            return Unscored(reason="no agent was recorded")
        missing = [agent for agent in expected if agent not in involved]
        reason = f"missing {', '.join(missing)}; involved {', '.join(involved)}" if missing else ""
        return Score(value=(len(expected) - len(missing)) / len(expected), reason=reason)
