from __future__ import annotations

import pytest

from carob.metrics.agents.state import StateFidelity
from carob.schema import Case, Json, Score, Trace, Unscored


def compare(
    expected: dict[str, Json], actual: dict[str, Json] | None, metric: StateFidelity | None = None
) -> Score:
    score = (metric or StateFidelity()).score(
        Case(id="c", state=expected), Trace(id="t", state=actual)
    )
    assert isinstance(score, Score)
    return score


def test_share_of_paths_that_match():
    score = compare(
        {"intent": "refund", "order": {"id": 7, "lines": [{"sku": "A"}, {"sku": "B"}]}},
        {"intent": "refund", "order": {"id": 7, "lines": [{"sku": "A"}, {"sku": "C"}]}, "more": 1},
    )
    assert score.value == 0.75
    assert score.reason == "order.lines.1.sku: expected 'B', got 'C'"
    assert score.details == {"paths": 4, "differing": ["order.lines.1.sku"]}


@pytest.mark.parametrize(
    ("wish", "got", "same"),
    [
        (50, 50.0, True),
        (1, True, False),
        (True, True, True),
        ("1", 1, False),
        (None, None, True),
        ({}, {}, True),
        ([], [], True),
        ([], {}, False),
        ([], [1], False),
    ],
)
def test_types_count(wish: Json, got: Json, same: bool):
    assert (compare({"x": wish}, {"x": got}).value == 1.0) is same


def test_every_path_of_a_missing_branch_differs():
    score = compare({"a": 1, "b": {"c": 1, "d": [2]}}, {"a": 1})
    assert score.value == pytest.approx(1 / 3)
    assert score.reason == "b.c: expected 1, got nothing; b.d.0: expected 2, got nothing"


def test_longer_list_differs():
    score = compare({"items": ["a"]}, {"items": ["a", "b"]})
    assert score.reason == "items: expected 1 elements, got 2"
    assert score.value == 0.5


def test_masked_paths_do_not_count():
    metric = StateFidelity(ignore=("lines.*.id", "now"))
    expected: dict[str, Json] = {"now": 1, "lines": [{"id": 1, "n": 2}]}
    assert compare(expected, {"now": 2, "lines": [{"id": 9, "n": 2}]}, metric).value == 1.0


def test_tolerance_is_for_numbers():
    assert compare({"sum": 9.99}, {"sum": 10.0}, StateFidelity(tolerance=0.02)).value == 1.0
    assert compare({"sum": "9.99"}, {"sum": "10"}, StateFidelity(tolerance=0.02)).value == 0.0


def test_missing_state_is_unscored():
    metric = StateFidelity()
    assert metric.score(Case(id="c"), Trace(id="t")) == Unscored(
        reason="the case expects no state", not_applicable=True
    )
    assert metric.score(Case(id="c", state={"a": 1}), Trace(id="t")) == Unscored(
        reason="the session state was not recorded"
    )
    assert metric.score(Case(id="c", state={}), Trace(id="t", state={})) == Unscored(
        reason="every expected path is ignored, or the expected state is empty", not_applicable=True
    )


def test_tolerance_is_a_decimal_and_not_negative():
    case, trace = Case(id="c", state={"price": 1}), Trace(id="t", state={"price": 1.1})
    score = StateFidelity(tolerance=0.1).score(case, trace)
    assert isinstance(score, Score)
    assert score.value == 1.0
    with pytest.raises(ValueError, match="tolerance: found -1, expected 0 or more"):
        StateFidelity(tolerance=-1)


@pytest.mark.parametrize("got", [5, None, [1, 2], "x=1"])
def test_every_path_below_a_value_of_another_type_differs(got: Json):
    score = compare({"cart": {"x": 1, "y": 2}, "paid": True}, {"cart": got, "paid": True})
    assert score.value == 1 / 3
    assert score.details["differing"] == ["cart.x", "cart.y"]
    assert score.reason.startswith(f"cart.x: expected 1, got nothing: cart is {got!r}; ")


def test_elements_that_are_missing_at_the_end_of_a_list_differ():
    score = compare({"lines": [{"sku": "A"}, {"sku": "B", "n": 2}]}, {"lines": [{"sku": "A"}]})
    assert score.value == 1 / 3
    assert score.details["differing"] == ["lines.1.sku", "lines.1.n"]
    assert (
        score.reason == "lines.1.sku: expected 'B', got nothing; lines.1.n: expected 2, got nothing"
    )


@pytest.mark.parametrize(("paths", "more"), [(10, ""), (11, "; and 1 more")])
def test_only_the_first_differences_are_described(paths: int, more: str):
    score = compare({f"k{number}": 1 for number in range(paths)}, {})
    first = [f"k{number}: expected 1, got nothing" for number in range(10)]
    assert score.reason == "; ".join(first) + more


def test_text_is_never_near_a_number():
    assert compare({"sum": 10}, {"sum": "10"}, StateFidelity(tolerance=5)).value == 0.0
