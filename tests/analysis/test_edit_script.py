from __future__ import annotations

import pytest

from carob.analysis.edit_script import accept_lines, edit_script
from carob.schema import Json, ToolCall
from carob.schema.edit_script import ArgumentChange, ScriptLine


def call(name: str, args: Json = None) -> ToolCall:
    return ToolCall(name=name, args=args)


def calls(text: str) -> list[ToolCall]:
    """`a b2` is a call of `a` and a call of `b` with an argument 2."""
    return [call(word[0], {"n": int(word[1:])} if word[1:] else {}) for word in text.split()]


def script(expected: str, actual: str) -> str:
    steps = edit_script(calls(expected), calls(actual))
    signs = {"keep": "=", "change": "~", "missing": "-", "unexpected": "+"}
    sides = [(step.kind, step.expected or step.actual) for step in steps]
    return " ".join(f"{signs[kind]}{side.name}" for kind, side in sides if side)


@pytest.mark.parametrize(
    ("expected", "actual", "steps"),
    [
        ("a b", "a b", "=a =b"),
        ("", "", ""),
        ("a", "", "-a"),
        ("", "a", "+a"),
        ("a", "b", "-a +b"),
        ("a1", "a2", "~a"),
        ("a b c", "a c", "=a -b =c"),
        ("a c", "a b c", "=a +b =c"),
        ("a b", "b a", "-a =b +a"),
        ("a1 a2", "a2", "-a =a"),
        ("a1", "a2 a1", "+a =a"),
        ("a1 b a2", "a2 b", "~a =b -a"),
        ("a1 b1 c1", "a2 c1", "~a -b =c"),
        ("b1", "a b2 c", "+a ~b +c"),
    ],
)
def test_fewest_steps_lead_from_the_expected_to_the_actual_calls(
    expected: str, actual: str, steps: str
):
    assert script(expected, actual) == steps


def test_very_many_calls_are_paired_by_their_place():
    expected, actual = [call("a")] * 200 + [call("b")], [call("a")] * 200 + [call("c")]
    kinds = [step.kind for step in edit_script(expected, actual)]
    assert kinds == ["keep"] * 200 + ["missing", "unexpected"]
    shifted = edit_script([call("x"), *expected], expected)
    assert [step.kind for step in shifted].count("keep") == 199
    fits = edit_script([call("x"), *expected[:199]], expected[:199])
    assert [step.kind for step in fits] == ["missing"] + ["keep"] * 199


@pytest.mark.parametrize(
    ("expected", "actual", "changes"),
    [
        (None, None, []),
        (None, {}, []),
        (None, {"a": 1}, []),
        ({}, None, []),
        ({}, {}, []),
        ({"a": 1}, None, [("a", "missing")]),
        ([1], None, [("", "missing")]),
        ({"a": 1}, {"a": 1}, [("a", "same")]),
        ({"a": 1}, {"a": 2}, [("a", "different")]),
        (
            {"a": 1, "b": 2},
            {"b": 2, "c": 3},
            [("a", "missing"), ("b", "same"), ("c", "unexpected")],
        ),
        ([1], [1], [("", "same")]),
        ([1], [2], [("", "different")]),
    ],
)
def test_arguments_are_compared_by_name(
    expected: Json, actual: Json, changes: list[tuple[str, str]]
):
    (step,) = edit_script([call("a", expected)], [call("a", actual)])
    assert [(argument.name, argument.kind) for argument in step.arguments] == changes
    assert step.kind == ("keep" if all(kind == "same" for _, kind in changes) else "change")


def test_change_has_both_values():
    (step,) = edit_script([call("a", {"x": 1, "y": 2})], [call("a", {"x": 3, "z": 4})])
    assert step.arguments == (
        ArgumentChange("x", "different", 1, 3),
        ArgumentChange("y", "missing", 2, None),
        ArgumentChange("z", "unexpected", None, 4),
    )


def test_only_accepted_lines_change_what_is_expected():
    expected = [call("a", {"x": 1, "y": 2}), call("b"), call("d", [1])]
    steps = edit_script(
        expected, [call("a", {"x": 3, "z": 4}), call("c", {"q": 5}), call("d", [2])]
    )
    assert [step.kind for step in steps] == ["change", "missing", "unexpected", "change"]

    def accept(*lines: tuple[int, int | None]) -> list[ToolCall]:
        return accept_lines(steps, [ScriptLine(*line) for line in lines])

    assert accept() == expected
    assert accept((0, 0))[0].args == {"x": 3, "y": 2}
    assert accept((0, 1))[0].args == {"x": 1}
    assert accept((0, 2))[0].args == {"x": 1, "y": 2, "z": 4}
    assert accept((0, None))[0].args == {"x": 3, "z": 4}
    assert [item.name for item in accept((1, None))] == ["a", "d"]
    assert [item.name for item in accept((2, None))] == ["a", "b", "c", "d"]
    assert accept((2, None))[2] == call("c", {"q": 5})
    assert accept((3, 0))[2].args == [2]
    assert accept((1, 0), (2, 0)) == expected  # steps that have no arguments


def test_call_whose_arguments_were_not_recorded_accepts_none():
    steps = edit_script([call("a", {"x": 1})], [call("a")])
    (accepted,) = accept_lines(steps, [ScriptLine(0, None)])
    assert accepted == call("a", {})


def test_true_is_not_one_in_an_edit_script():
    (step,) = edit_script([call("ship", {"express": True})], [call("ship", {"express": 1})])
    assert (step.kind, step.arguments) == (
        "change",
        (ArgumentChange("express", "different", True, 1),),
    )
