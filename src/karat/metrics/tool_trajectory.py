from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from karat.metrics.calls import differences, listed, recorded, shown, stated_by_turn
from karat.metrics.metric import Metric
from karat.metrics.needs import Need
from karat.metrics.pairs import Pair, per_turn
from karat.schema import Case, Score, ToolCall, Trace, Unscored

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
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls", "case.tool_calls")

    match_type: Literal["EXACT", "IN_ORDER", "ANY_ORDER", 0, 1, 2] = "EXACT"
    ignore_args: bool = False
    args: Literal["exact", "any"] = "exact"

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if stated_by_turn(case):
            return per_turn(case, trace, self._turn)
        if case.tool_calls is None:
            return Unscored(reason="the case expects no tool calls")
        actual = recorded(trace)
        if actual is None or not trace.turns:
            return Unscored(reason="tool calls were not recorded")
        return self._compare(case.tool_calls, actual)

    def _turn(self, pair: Pair) -> Score | Unscored:
        if pair.actual is None:
            return Score(value=0.0, reason="the turn is missing")
        if pair.golden is None:
            return Score(value=0.0, reason="the turn is not expected")
        if pair.actual.tool_calls is None:
            return Unscored(reason="tool calls were not recorded")
        return self._compare(pair.golden.tool_calls or (), pair.actual.tool_calls)

    def _compare(self, expected: Calls, actual: Calls) -> Score:
        if _MATCH[self.match_type](expected, actual, self._same):
            return _RIGHT
        return Score(value=0.0, reason=self._culprit(expected, actual))

    def _same(self, expected: ToolCall, actual: ToolCall) -> bool:
        if expected.name != actual.name:
            return False
        if self.ignore_args or expected.args == actual.args:
            return True
        return self.args == "any" and expected.args is None

    def _culprit(self, expected: Calls, actual: Calls) -> str:
        wrong = [pair for pair in zip(expected, actual, strict=False) if not self._same(*pair)]
        if len(expected) == len(actual) and len(wrong) == 1:
            golden, made = wrong[0]
            if golden.name == made.name:
                return f"{golden.name}: {'; '.join(differences(golden.args, made.args))}"
            return f"expected {shown(golden)}, got {shown(made)}"
        return f"expected {listed(expected)}, got {listed(actual)}"


def _exact(expected: Calls, actual: Calls, same: Same) -> bool:
    return len(expected) == len(actual) and all(map(same, expected, actual))


def _in_order(expected: Calls, actual: Calls, same: Same) -> bool:
    rest = iter(actual)
    return all(any(same(golden, made) for made in rest) for golden in expected)


def _any_order(expected: Calls, actual: Calls, same: Same) -> bool:
    rest = list(actual)
    for golden in sorted(expected, key=lambda call: call.args is None):
        found = next((i for i, made in enumerate(rest) if same(golden, made)), None)
        if found is None:
            return False
        del rest[found]
    return True


_RIGHT = Score(value=1.0)
_MATCH: dict[str | int, Callable[[Calls, Calls, Same], bool]] = {
    "EXACT": _exact,
    "IN_ORDER": _in_order,
    "ANY_ORDER": _any_order,
    0: _exact,
    1: _in_order,
    2: _any_order,
}
