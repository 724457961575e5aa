from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from carob.metrics.arguments import ArgsMode, Arguments, Comparator, check_tolerance
from carob.metrics.assignment import align, assign
from carob.metrics.calls import recorded, shown, stated_by_turn
from carob.metrics.metric import Metric
from carob.metrics.needs import NO_ARGS, Need, has_args
from carob.metrics.pairs import Pair, per_turn
from carob.schema import Case, Score, ToolCall, Trace, Unscored

Calls: TypeAlias = Sequence[ToolCall]

_MOST_WORK = 20_000_000  # steps of the assignment: seconds


class Match(NamedTuple):
    """An expected call, the call that was made for it, and what is wrong with its arguments."""

    expected: int
    actual: int
    credit: float
    wrong: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ToolUsage(Metric):
    """How well the tool calls that were made fit the expected ones, with credit for near misses.

    Each expected call is paired with an actual call of the same tool so that the sum of credits
    is the largest possible; the order in which calls are listed does not matter to that. A pair
    earns (1 + right arguments) / (1 + compared arguments). Precision = credit / actual calls,
    recall = credit / expected calls, F1 = 2PR / (P + R). Calls that are expected of turns are
    compared turn by turn, then the mean; a turn that is not expected counts if it calls tools.

    `order` says how calls are paired and what the score is: `any_order` F1; `strict` F1 of the
    best pairing that keeps both orders; `in_order` recall of that pairing, so that other calls may
    come between; `superset` recall in any order (at least the expected calls were made);
    `subset` precision in any order (nothing but expected calls was made). `args`: `exact`,
    `ignore`, `subset` (what was passed is part of what is expected), `superset` (at least what
    is expected). `comparators` names an argument, as `argument` or `tool.argument`, and how it is
    compared: `regex` (the expected text is a pattern for the whole value), `ignore_case`, `any`,
    or a number, the tolerance between numbers.
    """

    name: ClassVar[str] = "tool_usage_accuracy"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_args", "case.tool_calls")

    order: Literal["any_order", "strict", "in_order", "subset", "superset"] = "any_order"
    args: ArgsMode = "exact"
    comparators: Mapping[str, Comparator] = field(default_factory=dict[str, Comparator])

    def __post_init__(self) -> None:
        for argument, comparator in self.comparators.items():
            if not isinstance(comparator, str):
                check_tolerance(f"comparators: {argument}", comparator)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if self.args != "ignore" and not has_args(trace):
            return NO_ARGS
        if stated_by_turn(case):
            return per_turn(case, trace, self._turn)
        if case.tool_calls is None:
            return Unscored(reason="the case expects no tool calls")
        actual = recorded(trace)
        if actual is None or not trace.turns:
            return Unscored(reason="tool calls were not recorded")
        return self._compare(case.tool_calls, actual)

    def _turn(self, pair: Pair) -> Score | Unscored:
        if pair.golden is None and pair.actual and pair.actual.tool_calls:
            return self._compare((), pair.actual.tool_calls)
        if pair.golden is None or pair.golden.tool_calls is None:
            return Unscored(reason="the turn expects no tool calls")
        if pair.actual is None:
            return Score(value=0.0, reason="the turn is missing", details={**_rates(0.0, 1, 0)})
        if pair.actual.tool_calls is None:
            return Unscored(reason="tool calls were not recorded")
        return self._compare(pair.golden.tool_calls, pair.actual.tool_calls)

    def _compare(self, expected: Calls, actual: Calls) -> Score | Unscored:
        if min(len(expected), len(actual)) * len(expected) * len(actual) > _MOST_WORK:
            return Unscored(reason=f"{len(expected)} × {len(actual)} calls are too many to pair")
        matches = self._matches(expected, actual)
        rates = _rates(fsum(match.credit for match in matches), len(expected), len(actual))
        value = rates[_MEASURE[self.order]]
        if not expected and self.order in ("in_order", "superset"):
            value = 1.0  # other calls may come
        if not actual and self.order == "subset":
            value = 1.0  # nothing but expected calls was made
        reason = "; ".join(_script(expected, actual, matches))
        return Score(value=value, reason=reason, details={**rates})

    def _matches(self, expected: Calls, actual: Calls) -> list[Match]:
        rule = Arguments(mode=self.args, comparators=self.comparators)
        if self.order in ("strict", "in_order"):
            rows, columns = range(len(expected)), range(len(actual))
            return _pair(rule, expected, actual, rows, columns, align)
        # Calls of different tools are worth nothing together, so each tool is its own problem.
        golden, made = _by_tool(expected), _by_tool(actual)
        found = [
            match
            for tool, rows in golden.items()
            for match in _pair(rule, expected, actual, rows, made.get(tool, ()), assign)
        ]
        return sorted(found)


def _rates(credit: float, expected: int, actual: int) -> dict[str, float]:
    precision = credit / actual if actual else float(not expected)
    recall = credit / expected if expected else float(not actual)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _pair(
    rule: Arguments,
    expected: Calls,
    actual: Calls,
    rows: Sequence[int],
    columns: Sequence[int],
    solve: Callable[[Sequence[Sequence[float]]], list[tuple[int, int]]],
) -> list[Match]:
    table = [[_match(rule, expected, actual, row, column) for column in columns] for row in rows]
    best = solve([[match.credit for match in line] for line in table])
    return [table[row][column] for row, column in best]


def _match(rule: Arguments, expected: Calls, actual: Calls, row: int, column: int) -> Match:
    golden, made = expected[row], actual[column]
    if golden.name != made.name:
        return Match(row, column, 0.0, ())
    checks = rule.checks(golden, made)
    wrong = tuple(check.wrong for check in checks if check.wrong is not None)
    return Match(row, column, (1 + len(checks) - len(wrong)) / (1 + len(checks)), wrong)


def _by_tool(calls: Calls) -> dict[str, list[int]]:
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        groups[call.name].append(index)
    return groups


def _script(expected: Calls, actual: Calls, matches: Sequence[Match]) -> list[str]:
    """What would have to change for the calls to be the expected ones; empty if nothing."""
    found = {match.expected: match for match in matches}
    used = {match.actual for match in matches}
    lines: list[str] = []
    for index, call in enumerate(expected):
        if index not in found:
            lines.append(f"missing {shown(call)}")
        elif found[index].wrong:
            lines.append(f"wrong argument in {call.name}: {', '.join(found[index].wrong)}")
    lines += [f"unexpected {shown(call)}" for i, call in enumerate(actual) if i not in used]
    right = sum(not match.wrong for match in matches)
    return [*([f"matched {right} of {len(expected)}"] if lines and right else []), *lines]


_MEASURE = {
    "any_order": "f1",
    "strict": "f1",
    "in_order": "recall",
    "superset": "recall",
    "subset": "precision",
}
