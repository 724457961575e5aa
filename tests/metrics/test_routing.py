from __future__ import annotations

from carob.metrics.routing import AgentRouting
from carob.schema import Case, Score, Trace, Turn, Unscored


def trace(*agents: str) -> Trace:
    return Trace(id="t", turns=(Turn(agents=agents),))


def test_every_expected_agent_counts_once():
    case = Case(id="c", agents=("billing", "greeter", "billing"))
    assert AgentRouting().score(case, trace("greeter", "other", "billing")) == Score(value=1.0)
    assert AgentRouting().score(case, trace("greeter", "other")) == Score(
        value=0.5, reason="missing billing; involved greeter, other"
    )


def test_nothing_expected_and_nothing_recorded_are_unscored():
    assert AgentRouting().score(Case(id="c"), trace("a")) == Unscored(
        reason="the case expects no agents"
    )
    assert AgentRouting().score(Case(id="c", agents=("a",)), trace()) == Unscored(
        reason="no agent was recorded"
    )


def test_a_share_is_as_large_as_the_threshold_that_is_written_for_it():
    expected = tuple(f"agent_{n}" for n in range(10))
    outcome = AgentRouting().score(Case(id="c", agents=expected), trace(*expected[:2]))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.2
