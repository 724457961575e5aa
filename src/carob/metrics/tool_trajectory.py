from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, Literal, TypeAlias

from carob.metrics.calls import differences, listed, recorded, shown, stated_by_turn
from carob.metrics.metric import Metric
from carob.metrics.needs import NO_ARGS, Need, has_args
from carob.metrics.pairs import mean
from carob.schema import Case, Json, Noun, Score, ToolCall, Trace, Unscored

Calls: TypeAlias = Sequence[ToolCall]
Same: TypeAlias = Callable[[ToolCall, ToolCall], bool]


@dataclass(frozen=True, kw_only=True)
class ToolTrajectory(Metric):
    """Share of the turns in which exactly the expected tool calls were made.

    Per turn 1 or 0, then the mean. Calls are equal if name and arguments are; ids do not count.
    `match_type`: EXACT the same calls in the same order; IN_ORDER the expected calls in their
    order, others may come between; ANY_ORDER all expected calls, others may come too (0, 1, 2
    are ADK's numbers for these). `ignore_args` compares names only. As in ADK an expected call
    without arguments is not a call with empty arguments; with `args="any"` it is any call of that
    tool. A turn that says nothing expects no calls if another turn of the case states some.
    Missing and extra turns are failed turns. Calls that the case expects of no turn in particular
    are compared with those of the whole trace.
    """

    name: ClassVar[str] = "tool_trajectory_avg_score"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "tool_args", "case.tool_calls")

    match_type: Literal["EXACT", "IN_ORDER", "ANY_ORDER", 0, 1, 2] = "EXACT"
    ignore_args: bool = False
    args: Literal["exact", "any"] = "exact"

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        # Recordings come by the ten thousand and most of them are right. Equal calls match by
        # every rule, and this finds out with as little as it takes.
        try:
            wished = _WISHED[id(case)]
        except KeyError:
            wished = _wished(case)
            if wished is None:
                return self._whole(case, trace)
        made: list[Json] = []
        for turn in trace.turns:
            calls = turn.tool_calls
            if calls is None:
                return self._by_turn(case, trace)
            for call in calls:
                made.append(call.name)
                made.append(call.args)
            made.append(None)
        return wished.perfect if made == wished.calls else self._by_turn(case, trace)

    def _by_turn(self, case: Case, trace: Trace) -> Score | Unscored:
        if not self.ignore_args and not has_args(trace):
            return NO_ARGS
        match, same = _MATCH[self.match_type], self._same()
        values: list[float | None] = []
        wrong: list[str] = []
        several = len(case.turns) > 1 or len(trace.turns) > 1
        for golden, made in zip_longest(case.turns, trace.turns):
            if golden is None or made is None:
                why = "the turn is missing" if made is None else "the turn is not expected"
            elif made.tool_calls is None:
                values.append(None)
                continue
            elif match(golden.tool_calls or (), made.tool_calls, same):
                values.append(1.0)
                continue
            else:
                why = _culprit(golden.tool_calls or (), made.tool_calls, same)
            values.append(0.0)
            wrong.append(f"turn {len(values)}: {why}" if several else why)
        known = [value for value in values if value is not None]
        if not known:
            return _NOT_RECORDED
        return Score(value=mean(known), turns=tuple(values), reason="; ".join(wrong))

    def _whole(self, case: Case, trace: Trace) -> Score | Unscored:
        expected = case.tool_calls
        if expected is None:
            return Unscored(reason="the case expects no tool calls")
        actual = recorded(trace)
        if actual is None or not trace.turns:
            return _NOT_RECORDED
        if not self.ignore_args and not has_args(trace):
            return NO_ARGS
        same = self._same()
        if _MATCH[self.match_type](expected, actual, same):
            return Score(value=1.0)
        return Score(value=0.0, reason=_culprit(expected, actual, same))

    def _same(self) -> Same:
        if self.ignore_args:
            return _same_tool
        return _same_call if self.args == "exact" else _same_or_unstated


class _Wished(Noun, frozen=True):
    """What is expected of each turn, as it is compared."""

    case: Case
    """Kept, so that no other case gets its identity."""
    calls: list[Json]
    """Names and arguments, and `None` in the place of a name where a turn ends."""
    perfect: Score


_WISHED: dict[int, _Wished] = {}
_MOST = 4096  # cases, then it starts anew


def _wished(case: Case) -> _Wished | None:
    """The expectations of a case, which is met again in every repeat; `None` if it states none by
    turn."""
    if not stated_by_turn(case):
        return None
    if len(_WISHED) >= _MOST:
        _WISHED.clear()
    calls: list[Json] = []
    for turn in case.turns:
        for call in turn.tool_calls or ():
            calls += call.name, call.args
        calls.append(None)
    perfect = Score(value=1.0, turns=(1.0,) * len(case.turns))
    _WISHED[id(case)] = wished = _Wished(case, calls, perfect)
    return wished


def _culprit(expected: Calls, actual: Calls, same: Same) -> str:
    if len(expected) != len(actual):
        return f"expected {listed(expected)}, got {listed(actual)}"
    right = [*map(same, expected, actual)]
    place, others = right.index(False), right.count(False) - 1
    golden, made = expected[place], actual[place]
    more = f" (and {others} more)" if others else ""
    if golden.name == made.name:
        return f"{golden.name}: {'; '.join(differences(golden.args, made.args))}{more}"
    return f"expected {shown(golden)}, got {shown(made)}{more}"


def _same_call(expected: ToolCall, actual: ToolCall) -> bool:
    return expected.name == actual.name and expected.args == actual.args


def _same_tool(expected: ToolCall, actual: ToolCall) -> bool:
    return expected.name == actual.name


def _same_or_unstated(expected: ToolCall, actual: ToolCall) -> bool:
    return expected.name == actual.name and expected.args in (None, actual.args)


def _exact(expected: Calls, actual: Calls, same: Same) -> bool:
    return len(expected) == len(actual) and all(map(same, expected, actual))


def _in_order(expected: Calls, actual: Calls, same: Same) -> bool:
    place, last = 0, len(expected)
    for made in actual:
        if place == last:
            return True
        if same(expected[place], made):
            place += 1
    return place == last


def _any_order(expected: Calls, actual: Calls, same: Same) -> bool:
    if same is _same_or_unstated:  # those that take any call must not take one that another needs
        expected = sorted(expected, key=lambda call: call.args is None)
    rest = list(actual)
    for golden in expected:
        for place, made in enumerate(rest):
            if same(golden, made):
                del rest[place]
                break
        else:
            return False
    return True


_NOT_RECORDED = Unscored(reason="tool calls were not recorded")
_MATCH: dict[str | int, Callable[[Calls, Calls, Same], bool]] = {
    "EXACT": _exact,
    "IN_ORDER": _in_order,
    "ANY_ORDER": _any_order,
    0: _exact,
    1: _in_order,
    2: _any_order,
}
