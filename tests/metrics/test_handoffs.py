from __future__ import annotations

from carob.metrics.handoffs import AgentHandoffs
from carob.schema import Case, Score, Trace, Turn, Unscored


def test_taking_over_is_counted_within_turns():
    turns = Turn(agents=("root", "billing", "root")), Turn(agents=("billing", "billing")), Turn()
    assert AgentHandoffs().score(Case(id="c"), Trace(id="t", turns=turns)) == Score(
        value=2.0, turns=(2.0, 0.0, None), details={"agents": ["root", "billing"]}
    )


def test_trace_without_agents_is_unscored():
    assert AgentHandoffs().score(Case(id="c"), Trace(id="t", turns=(Turn(),))) == Unscored(
        reason="no agent was recorded"
    )
