from __future__ import annotations

import tracemalloc
from typing import Literal

import msgspec
import pytest

from carob.metrics import Metric
from carob.metrics.needs import NO_ARGS
from carob.metrics.tools.accuracy import ToolUsage
from carob.metrics.tools.calls import NOT_RECORDED
from carob.metrics.tools.trajectory import ToolTrajectory
from carob.schema import Case, Json, Score, SourceDocument, ToolCall, Trace, Turn, Unscored

Calls = tuple[ToolCall, ...] | None


def call(name: str, args: Json = None, id: str | None = None) -> ToolCall:
    return ToolCall(name=name, args=args, id=id)


def case(*turns: Calls) -> Case:
    return Case(id="c", turns=tuple(Turn(user="hi", tool_calls=calls) for calls in turns))


def trace(*turns: Calls) -> Trace:
    return Trace(id="t", turns=tuple(Turn(user="hi", tool_calls=calls) for calls in turns))


def value(metric: ToolTrajectory, expected: Calls, actual: Calls) -> float:
    score = metric.score(case(expected), trace(actual))
    assert isinstance(score, Score)
    return score.value


A, B, C = call("a", {"x": 1}), call("b", {}), call("c", {})
EXACT, IN_ORDER, ANY = (
    ToolTrajectory(),
    ToolTrajectory(match_type="IN_ORDER"),
    ToolTrajectory(match_type="ANY_ORDER"),
)


@pytest.mark.parametrize(
    ("expected", "actual", "exact", "in_order", "any_order"),
    [
        ((A, B), (A, B), 1, 1, 1),
        ((A, B), (A, C, B), 0, 1, 1),
        ((A, B), (B, A), 0, 0, 1),
        ((A, A), (A, B), 0, 0, 0),
        ((A,), (), 0, 0, 0),
        ((), (A,), 0, 1, 1),
        ((), (), 1, 1, 1),
    ],
)
def test_match_types_agree_with_adk(
    expected: Calls, actual: Calls, exact: int, in_order: int, any_order: int
):
    assert value(EXACT, expected, actual) == exact
    assert value(IN_ORDER, expected, actual) == in_order
    assert value(ANY, expected, actual) == any_order


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": None}, {}, False),
        (None, {}, False),
        (None, None, True),
    ],
)
def test_arguments_are_equal_as_python_values_are(expected: Json, actual: Json, equal: bool):
    assert value(EXACT, (call("f", expected),), (call("f", actual),)) == equal


def test_ids_do_not_count_and_names_are_case_sensitive():
    assert value(EXACT, (call("f", id="1"),), (call("f", id="2"),)) == 1
    assert value(EXACT, (call("f"),), (call("F"),)) == 0


@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
def test_unstated_arguments_match_anything_only_if_requested(
    match_type: Literal["EXACT", "IN_ORDER", "ANY_ORDER"],
):
    expected, actual = (call("f"),), (call("f", {"x": 1}),)
    assert value(ToolTrajectory(match_type=match_type), expected, actual) == 0
    assert value(ToolTrajectory(match_type=match_type, args="any"), expected, actual) == 1


def test_call_without_stated_arguments_leaves_exact_matches_to_others():
    expected, actual = (call("a"), A), (A, call("a", {"x": 2}))
    assert value(ToolTrajectory(match_type="ANY_ORDER", args="any"), expected, actual) == 1


def test_match_type_accepts_the_numbers_of_adk():
    assert value(ToolTrajectory(match_type=2), (A, B), (B, A)) == 1


def test_missing_and_extra_turns_are_failed_turns():
    score = EXACT.score(case((A,), (B,), (C,)), trace((A,)))
    assert score == Score(
        value=1 / 3,
        turns=(1.0, 0.0, 0.0),
        reason="turn 2: the turn is missing; turn 3: the turn is missing",
    )
    extra = EXACT.score(case((A,)), trace((A,), ()))
    assert isinstance(extra, Score)
    assert (extra.turns, extra.reason) == ((1.0, 0.0), "turn 2: the turn is not expected")


def test_same_calls_in_other_turns_are_wrong():
    assert EXACT.score(case((A, B), ()), trace((A,), (B,))) == Score(
        value=0.0,
        turns=(0.0, 0.0),
        reason="turn 1: expected a(x=1), b(), got a(x=1); turn 2: expected no calls, got b()",
    )


def test_reason_names_the_argument_that_differs():
    expected, actual = (call("weather", {"city": "Paris"}),), (call("weather", {"city": "paris"}),)
    score = EXACT.score(case(expected), trace(actual))
    assert isinstance(score, Score)
    assert score.reason == "weather: city: expected 'Paris', got 'paris'"


def test_reason_lists_both_sides_where_their_number_differs():
    score = EXACT.score(case((A, B)), trace((A,)))
    assert isinstance(score, Score)
    assert score.reason == "expected a(x=1), b(), got a(x=1)"


def test_case_without_expectations_is_unscored():
    outcome = EXACT.score(case(None), trace((A,)))
    assert outcome == Unscored(reason="the case expects no tool calls", not_applicable=True)


def from_adk(*turns: Calls) -> Case:
    return msgspec.structs.replace(case(*turns), origin=SourceDocument(format="adk", doc={}))


@pytest.mark.parametrize("metric", [EXACT, ToolUsage()])
def test_adk_data_without_intermediate_data_expects_no_calls(metric: Metric):
    made, none = metric.score(from_adk(None), trace((A,))), metric.score(from_adk(None), trace(()))
    assert isinstance(made, Score)
    assert isinstance(none, Score)
    assert (made.value, none.value) == (0.0, 1.0)
    unrecorded = metric.score(from_adk(None), trace(None))
    assert unrecorded == Unscored("the case expects no tool calls", not_applicable=True)
    assert isinstance(metric.score(from_adk(), trace((A,))), Unscored)


def test_call_without_arguments_equals_empty_arguments():
    assert value(EXACT, (B,), (call("b"),)) == 1
    assert value(EXACT, (A, B), (A, call("b"))) == 1
    assert value(ToolTrajectory(args="any"), (B,), (call("b"),)) == 1


def test_arguments_that_were_not_recorded_are_unscored_and_never_zero():
    bare = call("a"), call("b")
    assert EXACT.score(case((A, B)), trace(bare)) == NO_ARGS
    assert EXACT.score(case((A,), (B,)), trace((bare[0],), (bare[1],))) == NO_ARGS
    assert EXACT.score(Case(id="c", tool_calls=(A, B)), trace(bare)) == NO_ARGS


def test_other_calls_are_wrong_whether_or_not_arguments_were_recorded():
    score = EXACT.score(case((A,), (B,)), trace((call("a"),), (call("c"),)))
    assert isinstance(score, Score)
    assert score.turns == (None, 0.0)


def test_calls_that_were_not_recorded_are_unscored():
    outcome = EXACT.score(case((A,)), trace(None))
    assert outcome == Unscored(reason="tool calls were not recorded")


@pytest.mark.parametrize("metric", [EXACT, ANY, ToolUsage()])
def test_turn_that_was_not_recorded_may_not_pass_the_case(metric: Metric):
    golden = case((A,), (B,))
    assert metric.score(golden, trace((A,), None)) == NOT_RECORDED
    score = metric.score(case((A,), ()), trace((A,), None))
    assert isinstance(score, Score)
    assert (score.value, score.turns) == (1.0, (1.0, None))


def test_turn_that_was_not_recorded_leaves_the_failure_of_another():
    score = EXACT.score(case((A,), (B,), (C,)), trace((B,), None, (C,)))
    assert isinstance(score, Score)
    assert (score.value, score.turns) == (0.5, (0.0, None, 1.0))
    assert score.reason.startswith("turn 1: ")


def test_other_calls_of_the_whole_trace_are_described():
    score = EXACT.score(Case(id="c", tool_calls=(A,)), trace((B,)))
    assert score == Score(value=0.0, reason="expected a(x=1), got b()")


def test_calls_stated_for_the_case_are_compared_with_the_whole_trace():
    golden = Case(id="c", turns=(Turn(user="hi"),), tool_calls=(A, B))
    assert EXACT.score(golden, trace((A,), (B,))) == Score(value=1.0)
    assert EXACT.score(golden, trace((A,), None)) == Unscored(reason="tool calls were not recorded")


def test_cache_does_not_confuse_short_lived_cases():
    for number in range(5000):
        name = f"tool_{number % 3}"
        golden = case((call(name, {}),))
        assert ToolTrajectory().score(golden, trace((call(name, {}),))) == Score(
            value=1.0, turns=(1.0,)
        )
        wrong = ToolTrajectory().score(golden, trace((call("other", {}),)))
        assert isinstance(wrong, Score)
        assert wrong.value == 0.0


def test_cases_of_a_large_dataset_do_not_stay_in_memory():
    data = msgspec.json.encode(case((call("a", {"note": "x" * 10_000}),)))
    tracemalloc.start()
    try:
        for _ in range(4_000):  # each is loaded anew, as from a file
            EXACT.score(msgspec.json.decode(data, type=Case), trace((A,)))
        assert tracemalloc.get_traced_memory()[0] < 10_000_000
    finally:
        tracemalloc.stop()


def test_reason_formats_calls_with_and_without_arguments():
    def reason(expected: ToolCall, *actual: ToolCall) -> str:
        score = EXACT.score(case((expected,)), trace(actual))
        assert isinstance(score, Score)
        return score.reason

    two = call("a", {"x": 1, "y": "b"})
    assert reason(two) == "expected a(x=1, y='b'), got no calls"
    assert reason(call("a", [1]), B) == "expected a([1]), got b()"
    assert (
        reason(two, call("a", {"x": 2})) == "a: x: expected 1, got 2; y: expected 'b', got nothing"
    )
    assert reason(call("a", [1]), call("a", [2])) == "a: expected [1], got [2]"
    several = EXACT.score(case((A, B, C)), trace((C, A, B)))
    assert isinstance(several, Score)
    assert several.reason == "expected a(x=1), got c() (and 2 more)"
    assert reason(call("b"), B) == "b: expected no arguments, got {}"


def test_unstated_arguments_match_only_calls_of_their_tool():
    lenient = ToolTrajectory(args="any")
    assert value(lenient, (call("a"),), (call("a", {"x": 1}),)) == 1
    assert value(lenient, (call("a"),), (call("b", {"x": 1}),)) == 0
    assert value(lenient, (call("a", {"x": 2}),), (call("a", {"x": 1}),)) == 0
