"""The `tool_trajectory_avg_score` metric of ADK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from carob.metrics.metric import Metric
from carob.metrics.needs import NO_ARGS, Need, has_args
from carob.metrics.tools.calls import (
    EXPECTS_NONE,
    NOT_RECORDED,
    argument_differences,
    expects_calls_by_turn,
    format_call,
    format_calls,
    recorded_calls,
    unrecorded_calls,
)
from carob.metrics.turns import mean
from carob.schema import Case, Json, Score, ToolCall, Trace, Unscored

Calls: TypeAlias = Sequence[ToolCall]
SameCall: TypeAlias = Callable[[ToolCall, ToolCall], bool]


@dataclass(frozen=True, kw_only=True)
class ToolTrajectory(Metric):
    """Share of the turns in which exactly the expected tool calls were made.

    1 or 0 per turn, then the mean. Calls are equal if their names and arguments are; ids are
    ignored. Missing and extra turns score 0. In a case that states calls by turn, a turn without
    any expects none. ADK data always states them by turn: as in ADK, a turn without
    `intermediate_data` scores 1 if no tool was called, else 0. Calls that the case states for no
    particular turn are compared with those of the whole trace.

    A call that was recorded without arguments equals an expected call with empty arguments. If the
    trace has no arguments at all, a case that depends on them is unscored.

    `match_type`: `EXACT` (the same calls in the same order), `IN_ORDER` (the expected calls in
    their order, others may come in between) or `ANY_ORDER` (all expected calls, others may be
    made too). ADK's numbers 0, 1 and 2 are accepted. `ignore_args` compares names only. `args`:
    with `exact`, as in ADK, an expected call without arguments differs from a call with empty
    arguments; with `any` it matches every call of that tool.
    """

    name: ClassVar[str] = "tool_trajectory_avg_score"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_args", "case.tool_calls")

    match_type: Literal["EXACT", "IN_ORDER", "ANY_ORDER", 0, 1, 2] = "EXACT"
    ignore_args: bool = False
    args: Literal["exact", "any"] = "exact"

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        # Runs have tens of thousands of traces and most are correct. Equal calls match under
        # every `match_type`, so one comparison of two flat lists settles the usual case.
        try:
            expected = _EXPECTED[id(case)]
        except KeyError:
            expected = _expected_calls(case)
            if expected is None:
                return self._score_trace(case, trace)
        actual: list[Json] = []
        for turn in trace.turns:
            calls = turn.tool_calls
            if calls is None:
                return self._score_turns(case, trace)
            for call in calls:
                actual.append(call.name)
                actual.append(call.args)
            actual.append(None)
        return expected.perfect if actual == expected.calls else self._score_turns(case, trace)

    def _score_turns(self, case: Case, trace: Trace) -> Score | Unscored:
        if (unrecorded := unrecorded_calls(case, trace)) is not None:
            return unrecorded
        match, same = _MATCH[self.match_type], self._same_call()
        undecided: Unscored | None = None
        values: list[float | None] = []
        reasons: list[str] = []
        several = len(case.turns) > 1 or len(trace.turns) > 1
        for golden, actual in zip_longest(case.turns, trace.turns):
            if golden is None or actual is None:
                reason = "the turn is missing" if actual is None else "the turn is not expected"
            else:
                expected, calls = golden.tool_calls or (), actual.tool_calls
                if calls is None:
                    undecided = undecided or (NOT_RECORDED if expected else None)
                    values.append(None)
                    continue
                # Most turns of a wrong trace are right, and equal tuples are compared at once.
                if expected == calls or match(expected, calls, same):
                    values.append(1.0)
                    continue
                if self._depends_on_args(expected, calls, trace):
                    undecided = NO_ARGS
                    values.append(None)
                    continue
                reason = _describe_mismatch(expected, calls, same)
            values.append(0.0)
            reasons.append(f"turn {len(values)}: {reason}" if several else reason)
        if undecided and not reasons:  # other turns may fail the case, but not pass it
            return undecided
        known = [value for value in values if value is not None]
        return Score(value=mean(known), turns=tuple(values), reason="; ".join(reasons))

    def _score_trace(self, case: Case, trace: Trace) -> Score | Unscored:
        expected = case.tool_calls
        if expected is None:
            return EXPECTS_NONE
        actual = recorded_calls(trace)
        if actual is None or not trace.turns:
            return NOT_RECORDED
        same = self._same_call()
        if _MATCH[self.match_type](expected, actual, same):
            return Score(value=1.0)
        if self._depends_on_args(expected, actual, trace):
            return NO_ARGS
        return Score(value=0.0, reason=_describe_mismatch(expected, actual, same))

    def _depends_on_args(self, expected: Calls, actual: Calls, trace: Trace) -> bool:
        """Whether calls that do not match could match if their arguments had been recorded."""
        if self.ignore_args or has_args(trace):
            return False
        return _MATCH[self.match_type](expected, actual, _same_tool)

    def _same_call(self) -> SameCall:
        if self.ignore_args:
            return _same_tool
        return _same_args if self.args == "exact" else _same_or_unstated_args


class _ExpectedCalls(NamedTuple):
    """The expected calls of a case, flattened for comparison."""

    case: Case
    """A reference that keeps the case alive, so that no other case gets its `id()`."""
    calls: list[Json]
    """Name and arguments of each call, and `None` in place of a name at the end of a turn."""
    perfect: Score


_EXPECTED: dict[int, _ExpectedCalls] = {}
_MAX_CACHED = 512
"""Cases; the cache is cleared when it is full. Of a large dataset, each case is loaded anew for
each trace, so that the cache finds nothing and only keeps cases in memory."""


def _expected_calls(case: Case) -> _ExpectedCalls | None:
    """Flatten the expectations of a case, or return `None` if it states none by turn.

    Cached, because the same case is scored against many traces.
    """
    if not expects_calls_by_turn(case):
        return None
    if len(_EXPECTED) >= _MAX_CACHED:
        _EXPECTED.clear()
    calls: list[Json] = []
    for turn in case.turns:
        for call in turn.tool_calls or ():
            calls += call.name, call.args
        calls.append(None)
    perfect = Score(value=1.0, turns=(1.0,) * len(case.turns))
    _EXPECTED[id(case)] = expected = _ExpectedCalls(case, calls, perfect)
    return expected


def _describe_mismatch(expected: Calls, actual: Calls, same: SameCall) -> str:
    if len(expected) != len(actual):
        return f"expected {format_calls(expected)}, got {format_calls(actual)}"
    equal = [*map(same, expected, actual)]
    index, others = equal.index(False), equal.count(False) - 1
    golden, call = expected[index], actual[index]
    more = f" (and {others} more)" if others else ""
    if golden.name == call.name:
        return f"{golden.name}: {'; '.join(argument_differences(golden.args, call.args))}{more}"
    return f"expected {format_call(golden)}, got {format_call(call)}{more}"


def _same_args(expected: ToolCall, actual: ToolCall) -> bool:
    if expected.name != actual.name:
        return False
    return expected.args == actual.args or (actual.args is None and expected.args == {})


def _same_tool(expected: ToolCall, actual: ToolCall) -> bool:
    return expected.name == actual.name


def _same_or_unstated_args(expected: ToolCall, actual: ToolCall) -> bool:
    return _same_args(expected, actual) or (expected.name == actual.name and expected.args is None)


def _match_exact(expected: Calls, actual: Calls, same: SameCall) -> bool:
    return len(expected) == len(actual) and all(map(same, expected, actual))


def _match_in_order(expected: Calls, actual: Calls, same: SameCall) -> bool:
    index, last = 0, len(expected)
    for call in actual:
        if index == last:
            return True
        if same(expected[index], call):
            index += 1
    return index == last


def _match_any_order(expected: Calls, actual: Calls, same: SameCall) -> bool:
    if same is _same_or_unstated_args:
        # Calls without stated arguments match any call of their tool, so they choose last: `find`
        # must not use up the `find(id=7)` that another expected call needs.
        expected = sorted(expected, key=lambda call: call.args is None)
    unused = list(actual)
    for golden in expected:
        for index, call in enumerate(unused):
            if same(golden, call):
                del unused[index]
                break
        else:
            return False
    return True


_MATCH: dict[str | int, Callable[[Calls, Calls, SameCall], bool]] = {
    "EXACT": _match_exact,
    "IN_ORDER": _match_in_order,
    "ANY_ORDER": _match_any_order,
    0: _match_exact,
    1: _match_in_order,
    2: _match_any_order,
}
