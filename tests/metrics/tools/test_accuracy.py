from __future__ import annotations

from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.metrics.needs import NO_ARGS
from carob.metrics.tools.accuracy import ToolUsage
from carob.metrics.tools.trajectory import ToolTrajectory
from carob.schema import Case, Json, Score, ToolCall, Trace, Turn, Unscored

Order = Literal["any_order", "strict", "in_order", "subset", "superset"]


def call(name: str, **args: Json) -> ToolCall:
    return ToolCall(name=name, args=args)


def compare(metric: ToolUsage, expected: list[ToolCall], actual: list[ToolCall]) -> Score:
    golden = Case(id="c", tool_calls=tuple(expected))
    score = metric.score(golden, Trace(id="t", turns=(Turn(tool_calls=tuple(actual)),)))
    assert isinstance(score, Score)
    return score


SEARCH, BOOK, PAY = call("search", city="Paris"), call("book", hotel=7), call("pay")


@pytest.mark.parametrize(
    ("order", "expected", "actual", "value"),
    [
        ("any_order", [SEARCH, BOOK], [BOOK, SEARCH], 1.0),
        ("strict", [SEARCH, BOOK], [BOOK, SEARCH], 0.5),
        ("strict", [SEARCH, BOOK], [SEARCH, PAY, BOOK], 0.8),
        ("in_order", [SEARCH, BOOK], [SEARCH, PAY, BOOK], 1.0),
        ("in_order", [SEARCH, BOOK], [BOOK, SEARCH], 0.5),
        ("any_order", [SEARCH, BOOK], [SEARCH, PAY, BOOK], 0.8),
        ("superset", [SEARCH], [PAY, SEARCH], 1.0),
        ("superset", [SEARCH, PAY], [SEARCH], 0.5),
        ("subset", [SEARCH, PAY], [SEARCH], 1.0),
        ("subset", [SEARCH], [SEARCH, PAY], 0.5),
        ("any_order", [], [], 1.0),
        ("any_order", [], [PAY], 0.0),
        ("superset", [], [PAY], 1.0),
        ("subset", [PAY], [], 1.0),
        ("any_order", [PAY], [], 0.0),
    ],
)
def test_order_sets_which_calls_may_be_missing_or_extra(
    order: Order, expected: list[ToolCall], actual: list[ToolCall], value: float
):
    assert compare(ToolUsage(order=order), expected, actual).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("mode", "actual", "value"),
    [
        ("exact", {"a": 1, "b": 2}, 1.0),
        ("exact", {"a": 1}, 2 / 3),
        ("exact", {"a": 1, "b": 3}, 2 / 3),
        ("exact", {"a": 1, "b": 2, "c": 3}, 3 / 4),
        ("ignore", {"x": 9}, 1.0),
        ("subset", {"a": 1}, 1.0),
        ("superset", {"a": 1, "b": 2, "c": 3}, 1.0),
    ],
)
def test_argument_modes_give_partial_credit(
    mode: Literal["exact", "ignore", "subset", "superset"], actual: dict[str, Json], value: float
):
    score = compare(ToolUsage(args=mode), [call("f", a=1, b=2)], [call("f", **actual)])
    assert score.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("comparator", "wish", "got", "right"),
    [
        ("ignore_case", "Paris", "paris", True),
        ("exact", "Paris", "paris", False),
        ("regex", r"\d{4}", "2024", True),
        ("regex", r"\d{4}", "20245", False),
        (0.01, 9.99, 9.995, True),
        (0.01, 9.99, 10.1, False),
        (0.1, 1, 1.1, True),
        (0.1, 1_000_000_000, 1_000_000_000.1, True),
        (0.5, 10**400, 1.5, False),
        (1.0, 1, True, False),
        ("exact", 1, 1.0, True),
        ("exact", True, 1, False),
        ("exact", 0, False, False),
        ("exact", {"express": [True]}, {"express": [1]}, False),
        (5.0, 3, "3", False),
        ("any", "x", None, True),
    ],
)
def test_comparators_apply_per_argument(comparator: Any, wish: Json, got: Json, right: bool):
    metric = ToolUsage(comparators={"f.x": comparator, "x": "exact"})
    score = compare(metric, [call("f", x=wish)], [call("f", x=got)])
    assert (score.value == 1.0) is right


def test_comparator_of_an_argument_applies_to_every_tool_that_has_none_of_its_own():
    metric = ToolUsage(comparators={"city": "ignore_case", "book.city": "exact"})
    wish, got = [call("search", city="Paris")], [call("search", city="PARIS")]
    assert compare(metric, wish, got).value == 1.0
    wish, got = [call("book", city="Paris")], [call("book", city="PARIS")]
    assert compare(metric, wish, got).value == 0.5


@pytest.mark.parametrize("name", ["note", "book.note"])
def test_argument_whose_value_does_not_matter_may_be_missing_or_extra(name: str):
    metric = ToolUsage(comparators={name: "any"})
    bare, noted = [call("book", hotel=7)], [call("book", hotel=7, note="late")]
    assert compare(metric, noted, bare).value == compare(metric, bare, noted).value == 1.0
    assert compare(ToolUsage(), noted, bare).reason == (
        "wrong argument in book: note: expected 'late', got nothing"
    )
    assert compare(ToolUsage(), noted, bare).value == pytest.approx(2 / 3)


@pytest.mark.parametrize(("got", "value"), [([1, 2], 1.0), ([2], 0.5), ({"": [1, 2]}, 1.0)])
def test_arguments_that_are_no_object_are_compared_as_one(got: Json, value: float):
    wish = ToolCall(name="sum", args=[1, 2])
    assert compare(ToolUsage(), [wish], [ToolCall(name="sum", args=got)]).value == value


def test_reason_lists_what_differs():
    actual = [call("search", city="paris"), call("mail", to="ops")]
    score = compare(ToolUsage(order="any_order"), [SEARCH, PAY], actual)
    assert score.reason == (
        "wrong argument in search: city: expected 'Paris', got 'paris'; "
        "missing pay(); unexpected mail(to='ops')"
    )
    assert score.details == {"precision": 0.25, "recall": 0.25, "f1": 0.25}


def test_extra_calls_do_not_lower_the_calls_that_a_case_demands():
    assert compare(ToolUsage(), [SEARCH], [PAY, SEARCH]) == Score(
        value=1.0, details={"precision": 0.5, "recall": 1.0, "f1": 2 / 3}
    )
    assert compare(ToolUsage(), [SEARCH, BOOK], [PAY, SEARCH]).reason == (
        "matched 1 of 2; missing book(hotel=7)"
    )
    assert compare(ToolUsage(), [], [PAY]).value == 0.0


def test_reason_names_the_parameter_that_would_raise_the_score():
    extra = compare(ToolUsage(order="any_order"), [SEARCH], [PAY, SEARCH])
    assert extra.reason == "matched 1 of 1; unexpected pay() (order=superset allows extra calls)"
    more = compare(ToolUsage(), [SEARCH], [call("search", city="Paris", stars=4)])
    assert more.reason == (
        "wrong argument in search: stars: unexpected 4 (args=superset allows extra arguments)"
    )


def test_missing_calls_are_no_fault_where_they_are_allowed():
    allowed = ToolUsage(order="subset")
    assert compare(allowed, [SEARCH, PAY], [PAY]).reason == ""
    assert compare(allowed, [SEARCH, BOOK], [SEARCH, PAY]).reason == (
        "matched 1 of 2; unexpected pay()"
    )


def test_reason_starts_with_the_number_of_matched_calls():
    assert compare(ToolUsage(), [SEARCH, PAY], [SEARCH]).reason == "matched 1 of 2; missing pay()"
    assert compare(ToolUsage(), [SEARCH], [SEARCH]).reason == ""


@given(st.permutations([call("f", x=n % 3, y=n % 2) for n in range(5)]))
def test_score_does_not_depend_on_the_order_of_calls(actual: list[ToolCall]):
    expected = [call("f", x=n, y=0) for n in range(3)]
    assert compare(ToolUsage(order="any_order"), expected, actual).value == pytest.approx(0.75)


SOME = st.lists(
    st.builds(call, st.sampled_from("ab"), p=st.integers(1, 2), q=st.integers(1, 3)),
    min_size=1,
    max_size=6,
)


@given(SOME, SOME, st.randoms(use_true_random=False))
def test_score_is_bit_identical_in_any_order_of_calls(
    expected: list[ToolCall], actual: list[ToolCall], chance: Random
):
    score = compare(ToolUsage(order="any_order"), expected, actual)
    for calls in (expected, actual):
        chance.shuffle(calls)
    assert compare(ToolUsage(order="any_order"), expected, actual).value == score.value


@pytest.mark.parametrize("made", [(), (PAY,), (BOOK, PAY)])
def test_turn_that_states_no_calls_expects_none_as_in_tool_trajectory(made: tuple[ToolCall, ...]):
    golden = Case(id="c", turns=(Turn(tool_calls=(PAY,)), Turn(), Turn()))
    trace = Trace(id="t", turns=(Turn(tool_calls=(PAY,)), Turn(tool_calls=made)))
    usage, trajectory = ToolUsage().score(golden, trace), ToolTrajectory().score(golden, trace)
    assert isinstance(usage, Score)
    assert isinstance(trajectory, Score)
    assert usage.turns == trajectory.turns == (1.0, float(not made), 0.0)


BARE_SEARCH, BARE_PAY = ToolCall(name="search"), ToolCall(name="pay")


def test_call_without_arguments_matches_empty_arguments():
    assert compare(ToolUsage(), [PAY], [BARE_PAY]).value == 1.0
    assert by_turn([[PAY]], [[BARE_PAY]]).value == 1.0
    assert compare(ToolUsage(), [PAY, SEARCH], [BARE_PAY, SEARCH]).value == 1.0


def test_arguments_that_were_not_recorded_are_unscored():
    golden = Case(id="c", turns=(Turn(tool_calls=(SEARCH,)), Turn(tool_calls=(PAY,))))
    turns = Turn(user="hi", tool_calls=(BARE_SEARCH,)), Turn(user="hi", tool_calls=(BARE_PAY,))
    trace = Trace(id="t", turns=turns)
    assert ToolUsage().score(golden, trace) == NO_ARGS
    assert ToolUsage(args="ignore").score(golden, trace) != NO_ARGS
    other = compare(ToolUsage(), [SEARCH], [BARE_PAY])
    assert (other.value, other.reason) == (0.0, "missing search(city='Paris')")


def test_nothing_expected_and_nothing_recorded_are_unscored():
    trace = Trace(id="t", turns=(Turn(),))
    assert ToolUsage().score(Case(id="c"), trace) == Unscored(
        reason="the case expects no tool calls", not_applicable=True
    )
    assert ToolUsage().score(Case(id="c", tool_calls=(PAY,)), trace) == Unscored(
        reason="tool calls were not recorded"
    )


def test_too_many_calls_are_unscored():
    golden = Case(id="c", tool_calls=(PAY,) * 1000)
    outcome = ToolUsage().score(golden, Trace(id="t", turns=(Turn(tool_calls=(PAY,) * 1000),)))
    assert outcome == Unscored(reason="too many calls to pair: 1000 × 1000")


def by_turn(expected: list[list[ToolCall]], actual: list[list[ToolCall]]) -> Score:
    golden = Case(id="c", turns=tuple(Turn(tool_calls=tuple(calls)) for calls in expected))
    trace = Trace(id="t", turns=tuple(Turn(tool_calls=tuple(calls)) for calls in actual))
    score = ToolUsage().score(golden, trace)
    assert isinstance(score, Score)
    return score


def test_details_are_means_over_turns():
    one = by_turn([[SEARCH, BOOK]], [[SEARCH]])
    assert one.details == pytest.approx({"precision": 1.0, "recall": 0.5, "f1": 2 / 3})
    two = by_turn([[SEARCH, BOOK], [PAY]], [[SEARCH], [PAY]])
    assert two.details == pytest.approx({"precision": 1.0, "recall": 0.75, "f1": 5 / 6})
    missing = by_turn([[SEARCH], [PAY]], [[SEARCH]])
    assert missing.reason == "turn 2: the turn is missing"
    assert missing.details == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_calls_in_an_extra_turn_are_unexpected():
    score = by_turn([[SEARCH]], [[SEARCH], [PAY], []])
    assert (score.value, score.turns) == (0.5, (1.0, 0.0, None))
    assert score.reason == "turn 2: unexpected pay() (order=superset allows extra calls)"


def test_negative_tolerance_is_rejected():
    with pytest.raises(ValueError, match="comparators: x: found -1, expected 0 or more"):
        ToolUsage(comparators={"x": -1.0})
