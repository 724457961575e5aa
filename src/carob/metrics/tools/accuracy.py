"""The `tool_usage_accuracy` metric: expected and actual calls paired, with partial credit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from carob.metrics.metric import Metric
from carob.metrics.needs import NO_ARGS, Need, has_args
from carob.metrics.patterns import require_re2
from carob.metrics.tools.arguments import ArgsMode, ArgumentMatcher, Comparator, check_tolerance
from carob.metrics.tools.assignment import align, assign
from carob.metrics.tools.calls import (
    EXPECTS_NONE,
    NOT_RECORDED,
    expects_calls_by_turn,
    format_call,
    recorded_calls,
    unrecorded_calls,
)
from carob.metrics.turns import TurnPair, pair_turns, score_by_turn
from carob.schema import Case, Score, ToolCall, Trace, Unscored

Calls: TypeAlias = Sequence[ToolCall]

_MAX_STEPS = 20_000_000  # of the assignment: a few seconds
_EXPECTS_NONE = Unscored(reason="the turn expects no tool calls", not_applicable=True)


class CallMatch(NamedTuple):
    """An expected call paired with an actual call, by their indexes."""

    expected: int
    actual: int
    credit: float
    mismatches: tuple[str, ...]
    """Descriptions of the arguments that differ."""
    checks: int
    """The number of arguments that were compared."""
    has_extra: bool
    """Whether the actual call has arguments that the case does not expect."""


@dataclass(frozen=True, kw_only=True)
class ToolUsage(Metric):
    """How well the actual tool calls match the expected ones, with partial credit.

    Each expected call is paired with an actual call of the same tool so that the total credit is
    as high as possible. A pair earns (1 + correct arguments) / (1 + compared arguments).
    Precision = credit / actual calls, recall = credit / expected calls, F1 = 2PR / (P + R). If
    the case states calls by turn, each turn is scored on its own and the result is the mean; a turn
    that states none expects none, and an extra turn counts if it calls tools. If the trace has no
    arguments at all, a case that depends on them is unscored.

    `order` sets how calls are paired and which number is the score. `any_order`: F1. `strict`:
    F1 of the best pairing that keeps both orders. `in_order`: recall of that pairing, so other
    calls may come in between. `superset`: recall in any order, so extra calls are allowed.
    `subset`: precision in any order, so missing calls are allowed. `auto` is `superset`, because
    expected calls are those that the agent must make, and `any_order` where none is expected.

    `args` sets which arguments must match: `exact`, `ignore`, `subset` (the actual arguments are
    among the expected ones) or `superset` (they include the expected ones).

    `comparators` sets how single arguments are compared, by `argument` or `tool.argument`:
    `regex` (the expected text is an RE2 pattern for the whole value), `ignore_case`, `any`, or a
    number, the tolerance between numbers. Types count: `1` differs from `"1"` and `true`, but
    equals `1.0`.
    """

    name: ClassVar[str] = "tool_usage_accuracy"
    version: ClassVar[int] = 5
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_args", "case.tool_calls")

    order: Literal["auto", "any_order", "strict", "in_order", "subset", "superset"] = "auto"
    args: ArgsMode = "exact"
    comparators: Mapping[str, Comparator] = field(default_factory=dict[str, Comparator])

    def __post_init__(self) -> None:
        if "regex" in self.comparators.values():
            require_re2()
        for argument, comparator in self.comparators.items():
            if not isinstance(comparator, str):
                check_tolerance(f"comparators: {argument}", comparator)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if expects_calls_by_turn(case):
            return self._score_turns(case, trace)
        if case.tool_calls is None:
            return EXPECTS_NONE
        actual = recorded_calls(trace)
        if actual is None or not trace.turns:
            return NOT_RECORDED
        return self._compare(case.tool_calls, actual, has_args(trace))

    def _score_turns(self, case: Case, trace: Trace) -> Score | Unscored:
        if (unrecorded := unrecorded_calls(case, trace)) is not None:
            return unrecorded
        args_recorded = has_args(trace)
        outcomes = [self._score_turn(pair, args_recorded) for pair in pair_turns(case, trace)]
        for undecided in (NO_ARGS, NOT_RECORDED):
            if undecided in outcomes:  # the mean of the other turns must not pass the case
                return undecided
        return score_by_turn(case, trace, lambda pair: outcomes[pair.number - 1])

    def _score_turn(self, pair: TurnPair, args_recorded: bool) -> Score | Unscored:
        golden, actual = pair.golden, pair.actual
        if golden is None and not (actual and actual.tool_calls):
            return _EXPECTS_NONE
        if actual is None:
            return Score(value=0.0, reason="the turn is missing", details={**_rates(0.0, 1, 0)})
        expected = (golden.tool_calls if golden else None) or ()
        if actual.tool_calls is None:
            return NOT_RECORDED if expected else _EXPECTS_NONE
        return self._compare(expected, actual.tool_calls, args_recorded)

    def _compare(self, expected: Calls, actual: Calls, args_recorded: bool) -> Score | Unscored:
        if min(len(expected), len(actual)) * len(expected) * len(actual) > _MAX_STEPS:
            return Unscored(reason=f"too many calls to pair: {len(expected)} × {len(actual)}")
        order = self.order if self.order != "auto" else "superset" if expected else "any_order"
        matches = self._match_calls(expected, actual, order)
        if not args_recorded and any(match.checks for match in matches):
            return NO_ARGS
        rates = _rates(fsum(match.credit for match in matches), len(expected), len(actual))
        value = rates[_RATE_BY_ORDER[order]]
        if not expected and order in _EXTRA_ALLOWED:
            value = 1.0
        if not actual and order == "subset":
            value = 1.0  # missing calls are allowed
        reason = "; ".join(_describe(expected, actual, matches, order))
        if order not in _EXTRA_ALLOWED and value < (rates["recall"] if expected else 1.0):
            reason += " (order=superset allows extra calls)"
        elif value < 1.0 and self.args == "exact" and any(match.has_extra for match in matches):
            reason += " (args=superset allows extra arguments)"
        return Score(value=value, reason=reason, details={**rates})

    def _match_calls(self, expected: Calls, actual: Calls, order: str) -> list[CallMatch]:
        matcher = ArgumentMatcher(mode=self.args, comparators=self.comparators)
        if order in ("strict", "in_order"):
            rows, columns = range(len(expected)), range(len(actual))
            return _pair_calls(matcher, expected, actual, rows, columns, align)
        # Calls of different tools earn nothing, so each tool is an assignment problem of its own,
        # and the cubic cost applies to the calls of one tool only.
        expected_by_tool, actual_by_tool = _by_tool(expected), _by_tool(actual)
        matches = [
            match
            for tool, rows in expected_by_tool.items()
            for match in _pair_calls(
                matcher, expected, actual, rows, actual_by_tool.get(tool, ()), assign
            )
        ]
        return sorted(matches)


def _rates(credit: float, expected: int, actual: int) -> dict[str, float]:
    precision = credit / actual if actual else float(not expected)
    recall = credit / expected if expected else float(not actual)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _pair_calls(
    matcher: ArgumentMatcher,
    expected: Calls,
    actual: Calls,
    rows: Sequence[int],
    columns: Sequence[int],
    solve: Callable[[Sequence[Sequence[float]]], list[tuple[int, int]]],
) -> list[CallMatch]:
    table = [[_match(matcher, expected, actual, row, column) for column in columns] for row in rows]
    best = solve([[match.credit for match in line] for line in table])
    return [table[row][column] for row, column in best]


def _match(
    matcher: ArgumentMatcher, expected: Calls, actual: Calls, row: int, column: int
) -> CallMatch:
    if expected[row].name != actual[column].name:
        return CallMatch(row, column, 0.0, (), 0, False)
    checks = matcher.check(expected[row], actual[column])
    mismatches = tuple(check.mismatch for check in checks if check.mismatch is not None)
    credit = (1 + len(checks) - len(mismatches)) / (1 + len(checks))
    has_extra = any(check.extra for check in checks)
    return CallMatch(row, column, credit, mismatches, len(checks), has_extra)


def _by_tool(calls: Calls) -> dict[str, list[int]]:
    indexes: defaultdict[str, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        indexes[call.name].append(index)
    return indexes


def _describe(
    expected: Calls, actual: Calls, matches: Sequence[CallMatch], order: str
) -> list[str]:
    """Describe what lowers the score; empty if nothing does."""
    by_expected = {match.expected: match for match in matches}
    used = {match.actual for match in matches}
    lines: list[str] = []
    for index, call in enumerate(expected):
        if index not in by_expected and order != "subset":
            lines.append(f"missing {format_call(call)}")
        elif index in by_expected and (mismatches := by_expected[index].mismatches):
            lines.append(f"wrong argument in {call.name}: {', '.join(mismatches)}")
    if order not in _EXTRA_ALLOWED:
        extra = (call for index, call in enumerate(actual) if index not in used)
        lines += [f"unexpected {format_call(call)}" for call in extra]
    correct = sum(not match.mismatches for match in matches)
    summary = [f"matched {correct} of {len(expected)}"] if lines and correct else []
    return [*summary, *lines]


_EXTRA_ALLOWED = ("in_order", "superset")
_RATE_BY_ORDER = {
    "any_order": "f1",
    "strict": "f1",
    "in_order": "recall",
    "superset": "recall",
    "subset": "precision",
}
