from __future__ import annotations

from carob.metrics.agents.routing import AgentHandoffs, AgentRouting
from carob.schema import Case, Score, Trace, Turn, Unscored


def trace(*agents: str) -> Trace:
    return Trace(id="t", turns=(Turn(agents=agents),))


def test_every_expected_agent_counts_once():
    case = Case(id="c", agents=("billing", "greeter", "billing"))
    assert AgentRouting().score(case, trace("greeter", "other", "billing")) == Score(value=1.0)
    assert AgentRouting().score(case, trace("greeter", "other")) == Score(
        value=0.5, reason="missing billing; got greeter, other"
    )


def test_nothing_expected_and_nothing_recorded_are_unscored():
    assert AgentRouting().score(Case(id="c"), trace("a")) == Unscored(
        reason="the case expects no agents", not_applicable=True
    )
    assert AgentRouting().score(Case(id="c", agents=("a",)), trace()) == Unscored(
        reason="no agent was recorded"
    )


def test_two_of_ten_is_exactly_the_threshold_of_0_2():
    expected = tuple(f"agent_{n}" for n in range(10))
    outcome = AgentRouting().score(Case(id="c", agents=expected), trace(*expected[:2]))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.2


def test_handoffs_are_counted_within_turns():
    turns = Turn(agents=("root", "billing", "root")), Turn(agents=("billing", "billing")), Turn()
    assert AgentHandoffs().score(Case(id="c"), Trace(id="t", turns=turns)) == Score(
        value=2.0, turns=(2.0, 0.0, None), details={"agents": ["root", "billing"]}
    )


def test_trace_without_agents_is_unscored():
    assert AgentHandoffs().score(Case(id="c"), Trace(id="t", turns=(Turn(),))) == Unscored(
        reason="no agent was recorded"
    )
