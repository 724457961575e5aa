"""Metrics of the agents that took part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Score, Trace, Unscored
from carob.schema.outcome import Scale


@dataclass(frozen=True, kw_only=True)
class AgentRouting(Metric):
    """Share of the expected agents that took part.

    Expected agents found in the trace / expected agents. Other agents may take part too.
    """

    name: ClassVar[str] = "agent_routing"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("agents", "case.agents")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        expected = tuple(dict.fromkeys(case.agents or ()))
        if not expected:
            return Unscored(reason="the case expects no agents", not_applicable=True)
        actual = trace.agents
        if not actual:
            return Unscored(reason="no agent was recorded")
        missing = [agent for agent in expected if agent not in actual]
        reason = f"missing {', '.join(missing)}; got {', '.join(actual)}" if missing else ""
        return Score(value=(len(expected) - len(missing)) / len(expected), reason=reason)


@dataclass(frozen=True, kw_only=True)
class AgentHandoffs(Metric):
    """Number of times one agent handed over to another within a turn."""

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
