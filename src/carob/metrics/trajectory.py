from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Score, ToolCall, Trace, Turn, Unscored

_MOST_CELLS = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Trajectory(Metric):
    """How close the sequence of agents and tools is to the expected trajectory.

    The names of the trajectory may be agents or tools; the trace is read as the sequence of those
    kinds that the trajectory speaks of. Loops and repeats count; only an agent that goes on in the
    next turn may be named again there or not, whichever fits better. `match`: `similarity` is
    (length of the longer sequence - edit distance) / that length; `exact`, `in_order` (the expected
    steps in their order, others may come between) and `any_order` (all expected steps) are 1 or 0.
    """

    name: ClassVar[str] = "trajectory_accuracy"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("agents", "case.trajectory")

    match: Literal["similarity", "exact", "in_order", "any_order"] = "similarity"

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if case.trajectory is None:
            return Unscored(reason="the case expects no trajectory")
        named = _steps(trace, set(case.trajectory))
        actual = [step for step, _ in named]
        if not actual and not _recorded(trace):
            return Unscored(reason="neither agents nor tool calls were recorded")
        if len(case.trajectory) * len(actual) > _MOST_CELLS:
            return Unscored(reason=f"{len(actual)} steps are too many to compare")
        value = _VALUES[self.match](case.trajectory, actual)
        if value < 1.0 and len(once := [step for step, again in named if not again]) < len(actual):
            other = _VALUES[self.match](case.trajectory, once)
            value, actual = (other, once) if other > value else (value, actual)
        reason = "" if value == 1.0 else f"expected {_path(case.trajectory)}, got {_path(actual)}"
        return Score(value=value, reason=reason)


def distance(first: Sequence[str], second: Sequence[str]) -> int:
    """How many steps must be inserted, removed or replaced (Levenshtein)."""
    line = list(range(len(second) + 1))
    for row, step in enumerate(first, 1):
        corner, line[0] = line[0], row
        for column, other in enumerate(second, 1):
            change = corner + (step != other)
            corner = line[column]
            line[column] = min(change, corner + 1, line[column - 1] + 1)
    return line[-1]


def subsequence(expected: Iterable[str], actual: Iterable[str]) -> bool:
    """Whether the expected steps occur in their order."""
    rest = iter(actual)
    return all(step in rest for step in expected)


def _similarity(expected: Sequence[str], actual: Sequence[str]) -> float:
    longer = max(len(expected), len(actual))
    return (longer - distance(expected, actual)) / longer if longer else 1.0


def _recorded(trace: Trace) -> bool:
    return any(turn.agents or turn.tool_calls is not None for turn in trace.turns)


def _steps(trace: Trace, names: set[str]) -> list[tuple[str, bool]]:
    """The actual sequence of the kinds of steps that the names speak of, and of each whether it is
    an agent that goes on from the turn before."""
    tools = {call.name for turn in trace.turns for call in turn.tool_calls or ()}
    with_tools = bool(names & tools)
    with_agents = bool(names & set(trace.agents)) or not with_tools
    found: list[tuple[str, bool]] = []
    before: str | None = None
    for turn in trace.turns:
        for kind, name in _walk(turn):
            if with_agents if kind == "agent" else with_tools:
                found.append((name, kind == "agent" and name == before))
            before = None if kind == "agent" else before
        before = turn.agents[-1] if turn.agents else before
    return found


def _walk(turn: Turn) -> list[tuple[Literal["agent", "tool"], str]]:
    """The agents of a turn, each followed by its tool calls.

    A call whose agent is not known comes after the last agent.
    """
    waiting = list(turn.tool_calls or ())
    steps: list[tuple[Literal["agent", "tool"], str]] = []
    for place, agent in enumerate(turn.agents):
        steps.append(("agent", agent))
        last = agent not in turn.agents[place + 1 :]
        while waiting and waiting[0].agent == agent:
            steps.append(("tool", waiting.pop(0).name))
        if last:
            own, waiting = _split(waiting, agent)
            steps.extend(("tool", call.name) for call in own)
    steps.extend(("tool", call.name) for call in waiting)
    return steps


def _split(calls: list[ToolCall], agent: str) -> tuple[list[ToolCall], list[ToolCall]]:
    own = [call for call in calls if call.agent == agent]
    return own, [call for call in calls if call.agent != agent]


def _path(steps: Sequence[str]) -> str:
    return " → ".join(steps) or "nothing"


_VALUES: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "similarity": _similarity,
    "exact": lambda expected, actual: float(list(expected) == list(actual)),
    "in_order": lambda expected, actual: float(subsequence(expected, actual)),
    "any_order": lambda expected, actual: float(Counter(expected) <= Counter(actual)),
}
