from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from carob.metrics.agents.trajectory import Trajectory, edit_distance
from carob.schema import Case, Score, ToolCall, Trace, Turn, Unscored

Match = Literal["similarity", "exact", "in_order", "any_order"]


def value(match: Match, expected: str, *turns: Turn) -> float:
    case = Case(id="c", trajectory=tuple(expected.split()))
    score = Trajectory(match=match).score(case, Trace(id="t", turns=turns))
    assert isinstance(score, Score)
    return score.value


def agents(names: str) -> Turn:
    return Turn(agents=tuple(names.split()))


@pytest.mark.parametrize(
    ("match", "actual", "expected"),
    [
        ("similarity", "greet bill pay", 1.0),
        ("similarity", "greet bill bill pay", 0.75),
        ("similarity", "greet pay", 2 / 3),
        ("exact", "greet bill pay", 1.0),
        ("exact", "greet bill bill pay", 0.0),
        ("in_order", "greet bill bill pay", 1.0),
        ("in_order", "bill greet pay", 0.0),
        ("any_order", "pay bill greet", 1.0),
        ("any_order", "pay bill", 0.0),
    ],
)
def test_each_match_mode(match: Match, actual: str, expected: float):
    assert value(match, "greet bill pay", agents(actual)) == pytest.approx(expected)


def test_tools_are_steps_where_the_trajectory_names_them():
    turn = Turn(agents=("greet", "bill"), tool_calls=(ToolCall(name="pay"),))
    assert value("exact", "greet bill pay", turn) == 1.0
    assert value("exact", "greet bill", turn) == 1.0
    assert value("exact", "pay", turn) == 1.0


def test_calls_follow_the_agent_that_made_them():
    calls = tuple(ToolCall(name=name, agent=agent) for name, agent in (("find", "a"), ("buy", "b")))
    turn = Turn(agents=("a", "b", "a"), tool_calls=(*calls, ToolCall(name="mail", agent="a")))
    assert value("exact", "a find b buy a mail", turn) == 1.0


CALLS = tuple(ToolCall(name=name) for name in ("find", "pay", "mail"))
DEMANDING = Case(
    id="c",
    trajectory=("greet", "bill", "pay"),
    tool_calls=(ToolCall(name="find"), ToolCall(name="mail")),
    agents=("desk",),
)


def test_steps_that_the_case_demands_elsewhere_do_not_count_against_the_trajectory():
    turn = Turn(agents=("desk", "greet", "desk", "bill"), tool_calls=CALLS)
    trace = Trace(id="t", turns=(turn,))
    assert Trajectory().score(DEMANDING, trace) == Score(value=1.0)
    strict = Trajectory(steps="all").score(DEMANDING, trace)
    assert isinstance(strict, Score)
    assert strict.value < 0.5
    assert strict.reason == (
        "expected greet → bill → pay, got desk → greet → desk → bill → find → pay → mail"
        " (steps=major counts named steps only)"
    )
    own = tuple(msgspec.structs.replace(call, agent="bill") for call in CALLS)
    attributed = Trace(id="t", turns=(msgspec.structs.replace(turn, tool_calls=own),))
    assert Trajectory().score(DEMANDING, attributed) == Score(value=1.0)


def test_unexpected_tools_count_in_a_trajectory_of_tools_only():
    case = Case(id="c", trajectory=("find", "pay"), tool_calls=(ToolCall(name="mail"),))
    calls = (*CALLS, ToolCall(name="delete"))
    score = Trajectory().score(case, Trace(id="t", turns=(Turn(tool_calls=calls),)))
    assert score == Score(
        value=2 / 3,
        reason="expected find → pay, got find → pay → delete "
        "(match=in_order allows other steps in between)",
    )


def test_turn_whose_calls_were_not_recorded_leaves_a_trajectory_of_tools_unscored():
    recorded = Turn(agents=("desk",), tool_calls=(ToolCall(name="pay"),))
    trace = Trace(id="t", turns=(recorded, Turn(agents=("desk",))))
    assert Trajectory().score(Case(id="c", trajectory=("pay", "mail")), trace) == Unscored(
        reason="the tool calls of some turns were not recorded"
    )
    # Agents are recorded without their calls.
    assert Trajectory().score(Case(id="c", trajectory=("desk",)), trace) == Score(value=1.0)


def test_turns_follow_each_other():
    assert value("exact", "greet bill", agents("greet"), agents("bill")) == 1.0


def test_reason_shows_both_trajectories():
    case = Case(id="c", trajectory=("greet", "bill"))
    score = Trajectory().score(case, Trace(id="t", turns=(agents("greet pay"),)))
    assert score == Score(value=0.5, reason="expected greet → bill, got greet → pay")


def test_nothing_expected_and_nothing_recorded_are_unscored():
    empty = Trace(id="t", turns=(Turn(),))
    assert Trajectory().score(Case(id="c"), empty) == Unscored(
        reason="the case expects no trajectory", not_applicable=True
    )
    called = Trace(id="t", turns=(Turn(tool_calls=(ToolCall(name="delete"),)),))
    assert Trajectory().score(Case(id="c", trajectory=()), called) == Unscored(
        reason="the case expects no trajectory", not_applicable=True
    )
    assert Trajectory().score(Case(id="c", trajectory=("a",)), empty) == Unscored(
        reason="neither agents nor tool calls were recorded"
    )


@pytest.mark.parametrize(
    ("first", "second", "steps"),
    [("", "", 0), ("abc", "", 3), ("abc", "abd", 1), ("kitten", "sitting", 3), ("ab", "ba", 2)],
)
def test_distance_is_the_least_number_of_edits(first: str, second: str, steps: int):
    assert edit_distance(first, second) == edit_distance(second, first) == steps


def test_continuing_agent_may_be_repeated_or_not():
    turns = agents("greet"), agents("greet bill"), agents("bill")
    assert value("exact", "greet bill", *turns) == 1.0
    assert value("exact", "greet greet bill bill", *turns) == 1.0
    assert value("similarity", "greet bill bill pay", *turns) == 0.5
    assert value("similarity", "greet greet bill bill pay", *turns) == 0.8
    assert value("exact", "greet bill pay", agents("greet bill"), agents("bill pay")) == 1.0
    assert value("exact", "greet bill", agents("greet bill"), agents("greet bill")) == 0.0
    assert value("exact", "greet bill", agents("greet"), agents("bill greet")) == 0.0


def test_trajectory_that_is_too_long_to_compare_is_unscored():
    case = Case(id="c", trajectory=("greet",) * 2000)
    turn = agents("greet " * 2000)
    fits = Trajectory().score(case, Trace(id="t", turns=(turn,)))
    assert isinstance(fits, Score)
    assert fits.value == 1.0
    longer = Trace(id="t", turns=(turn, agents("pay")))
    assert Trajectory().score(case, longer) == Unscored("too many steps to compare: 2001")


def test_reason_names_both_paths_and_the_setting_that_would_help():
    def reason(match: Match, *actual: str) -> str:
        case = Case(id="c", trajectory=("greet", "pay"))
        trace = Trace(id="t", turns=(Turn(agents=actual, tool_calls=()),))
        score = Trajectory(match=match).score(case, trace)
        assert isinstance(score, Score)
        return score.reason

    others = " (match=in_order allows other steps in between)"
    assert reason("exact", "pay") == "expected greet → pay, got pay"
    assert (
        reason("exact", "greet", "bill", "pay")
        == f"expected greet → pay, got greet → bill → pay{others}"
    )
    assert reason("similarity", "greet", "bill", "pay").endswith(others)
    assert not reason("any_order", "greet").endswith(others)
    assert reason("exact") == "expected greet → pay, got nothing"
    turns = agents("greet"), agents("greet")
    case, trace = Case(id="c", trajectory=("greet", "pay")), Trace(id="t", turns=turns)
    plain = Score(value=0.0, reason="expected greet → pay, got greet → greet")
    assert Trajectory(match="exact").score(case, trace) == plain
    assert Trajectory(match="exact", steps="all").score(case, trace) == plain
