"""The edit script between expected and actual tool calls of a turn, argument by argument."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from carob.schema import Json, ToolCall
from carob.schema.edit_script import ArgumentChange, EditStep, ScriptLine
from carob.schema.equality import json_equal

_MAX_CALLS = 200
"""More calls of one turn are paired in order, without looking for the best pairing."""


def edit_script(expected: Sequence[ToolCall], actual: Sequence[ToolCall]) -> list[EditStep]:
    """Align calls in order so that as few steps as possible remain. Calls of different tools are
    never paired."""
    steps: list[EditStep] = []
    row = column = 0
    for i, j in [*_align(expected, actual), (len(expected), len(actual))]:
        steps += [EditStep("missing", call, None) for call in expected[row:i]]
        steps += [EditStep("unexpected", None, call) for call in actual[column:j]]
        if i < len(expected) and j < len(actual):
            steps.append(_pair(expected[i], actual[j]))
        row, column = i + 1, j + 1
    return steps


def accept_lines(steps: Sequence[EditStep], lines: Collection[ScriptLine]) -> list[ToolCall]:
    """Return the calls to expect if some lines of a script are accepted: the actual side of those
    lines, and the expected side of all others."""
    calls: list[ToolCall] = []
    for index, step in enumerate(steps):
        whole = ScriptLine(index, None) in lines
        if step.kind == "unexpected":
            if whole and step.actual:
                calls.append(ToolCall(name=step.actual.name, args=step.actual.args))
        elif step.expected and not (step.kind == "missing" and whole):
            calls.append(_accept_arguments(step, index, whole, lines))
    return calls


def _accept_arguments(
    step: EditStep, index: int, whole: bool, lines: Collection[ScriptLine]
) -> ToolCall:
    assert step.expected  # noqa: S101 - for the type checker: only such steps have arguments
    changed = [
        (number, argument)
        for number, argument in enumerate(step.arguments)
        if argument.kind != "same" and (whole or ScriptLine(index, number) in lines)
    ]
    if not changed or not isinstance(step.expected.args, dict):
        args = step.actual.args if changed and step.actual else step.expected.args
        return msgspec.structs.replace(step.expected, args=args)
    args = dict(step.expected.args)
    for _, argument in changed:
        if argument.kind == "missing":
            del args[argument.name]
        else:
            args[argument.name] = argument.actual
    return msgspec.structs.replace(step.expected, args=args)


def _pair(expected: ToolCall, actual: ToolCall) -> EditStep:
    arguments = tuple(_compare_arguments(expected.args, actual.args))
    same = all(argument.kind == "same" for argument in arguments)
    return EditStep("keep" if same else "change", expected, actual, arguments)


def _compare_arguments(expected: Json, actual: Json) -> Iterator[ArgumentChange]:
    if expected is None:
        return  # no arguments are stated
    before = expected if isinstance(expected, dict) else {"": expected}
    after = actual if isinstance(actual, dict) else {} if actual is None else {"": actual}
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield ArgumentChange(name, "missing", before[name], None)
        elif name not in before:
            yield ArgumentChange(name, "unexpected", None, after[name])
        else:
            kind = "same" if json_equal(before[name], after[name]) else "different"
            yield ArgumentChange(name, kind, before[name], after[name])


def _align(expected: Sequence[ToolCall], actual: Sequence[ToolCall]) -> list[tuple[int, int]]:
    rows, columns = len(expected), len(actual)
    if max(rows, columns) > _MAX_CALLS:
        pairs = zip(range(rows), range(columns), strict=False)
        return [(i, j) for i, j in pairs if expected[i].name == actual[j].name]
    cost = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            cost[i][j] = _cheapest(cost, expected, actual, i, j)
    return list(_walk(cost, expected, actual))


def _cheapest(
    cost: list[list[int]], expected: Sequence[ToolCall], actual: Sequence[ToolCall], i: int, j: int
) -> int:
    # Twice the steps, so that a changed call costs less than a missing and an unexpected one.
    if i == len(expected) or j == len(actual):
        return 2 * (len(expected) - i + len(actual) - j)
    best = 2 + min(cost[i + 1][j], cost[i][j + 1])
    if expected[i].name == actual[j].name:
        best = min(best, _price(expected[i], actual[j]) + cost[i + 1][j + 1])
    return best


def _price(expected: ToolCall, actual: ToolCall) -> int:
    return 0 if json_equal(expected.args, actual.args) else 1


def _walk(
    cost: list[list[int]], expected: Sequence[ToolCall], actual: Sequence[ToolCall]
) -> Iterator[tuple[int, int]]:
    i = j = 0
    while i < len(expected) and j < len(actual):
        same_tool = expected[i].name == actual[j].name
        if same_tool and cost[i][j] == _price(expected[i], actual[j]) + cost[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif cost[i][j] == 2 + cost[i + 1][j]:
            i += 1
        else:
            j += 1
