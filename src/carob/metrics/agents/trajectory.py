"""The `trajectory_accuracy` metric: the sequence of agents and tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.tools.calls import recorded_calls
from carob.schema import Case, Score, ToolCall, Trace, Turn, Unscored

Step: TypeAlias = tuple[Literal["agent", "tool"], str]

_MAX_CELLS = 4_000_000  # of the edit distance table: about a second


@dataclass(frozen=True, kw_only=True)
class Trajectory(Metric):
    """How close the sequence of agents and tools is to the expected trajectory.

    The expected trajectory may name agents, tools or both; steps of the trace of any other kind
    are ignored. Loops and repeats count. An agent that continues in the next turn may be repeated
    there or not, whichever scores higher.

    `steps`: with `major`, agents and tools that the case expects elsewhere (such as in
    `agents_evaluated` and `reference_tool_interactions`) do not count if the trajectory does not
    name them, and beside agents no tool does that it does not name. With `all`, every step of the
    kinds that the trajectory names counts.

    `match`: `similarity` is (length of the longer sequence - edit distance) / that length. `exact`,
    `in_order` (the expected steps in their order, others may come in between) and `any_order` (all
    expected steps, others may come too) are 1 or 0.
    """

    name: ClassVar[str] = "trajectory_accuracy"
    version: ClassVar[int] = 4
    threshold: ClassVar[float | None] = 0.8
    needs: ClassVar[tuple[Need, ...]] = ("agents", "case.trajectory")

    match: Literal["similarity", "exact", "in_order", "any_order"] = "similarity"
    steps: Literal["major", "all"] = "major"

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if not case.trajectory:  # an empty one names no kind of step that would count
            return Unscored(reason="the case expects no trajectory", not_applicable=True)
        minor = _minor_steps(case, case.trajectory, trace)
        ignored = minor if self.steps == "major" else set[Step]()
        steps = _find_steps(trace, set(case.trajectory), ignored)
        actual = [name for name, _ in steps]
        if not actual and not _has_steps(trace):
            return Unscored(reason="neither agents nor tool calls were recorded")
        # Nobody knows whether the steps of that turn are those that are missing.
        if recorded_calls(trace) is None and not _tools(trace).isdisjoint(case.trajectory):
            return Unscored(reason="the tool calls of some turns were not recorded")
        if len(case.trajectory) * len(actual) > _MAX_CELLS:
            return Unscored(reason=f"too many steps to compare: {len(actual)}")
        value = _VALUES[self.match](case.trajectory, actual)
        distinct = [name for name, continued in steps if not continued]
        if value < 1.0 and len(distinct) < len(actual):
            other = _VALUES[self.match](case.trajectory, distinct)
            value, actual = (other, distinct) if other > value else (value, actual)
        if value == 1.0:
            return Score(value=1.0)
        reason = f"expected {_format_path(case.trajectory)}, got {_format_path(actual)}"
        if self.steps == "all" and any(name in actual for _, name in minor):
            reason += " (steps=major counts named steps only)"
        elif self.match in ("similarity", "exact") and is_subsequence(case.trajectory, actual):
            reason += " (match=in_order allows other steps in between)"
        return Score(value=value, reason=reason)


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of steps to insert, remove or replace (Levenshtein)."""
    line = list(range(len(second) + 1))
    for row, step in enumerate(first, 1):
        corner, line[0] = line[0], row
        for column, other in enumerate(second, 1):
            change = corner + (step != other)
            corner = line[column]
            line[column] = min(change, corner + 1, line[column - 1] + 1)
    return line[-1]


def is_subsequence(expected: Iterable[str], actual: Iterable[str]) -> bool:
    """Tell whether the expected steps occur in their order."""
    rest = iter(actual)
    return all(step in rest for step in expected)


def _similarity(expected: Sequence[str], actual: Sequence[str]) -> float:
    longer = max(len(expected), len(actual))
    return (longer - edit_distance(expected, actual)) / longer


def _has_steps(trace: Trace) -> bool:
    return any(turn.agents or turn.tool_calls is not None for turn in trace.turns)


def _tools(trace: Trace) -> set[str]:
    return {call.name for turn in trace.turns for call in turn.tool_calls or ()}


def _minor_steps(case: Case, names: Sequence[str], trace: Trace) -> set[Step]:
    """Return the steps that do not count against a trajectory of agents or major steps.

    A case that demands `generate_qr_code` must not fail because its trajectory leaves it out.
    """
    calls = [call for turn in case.turns for call in turn.tool_calls or ()]
    tools = {call.name for call in (*(case.tool_calls or ()), *calls)}
    agents: set[str] = set()
    if not set(trace.agents).isdisjoint(names):
        tools |= _tools(trace)
        agents = {*(case.agents or ())}
    steps: set[Step] = {*(("agent", name) for name in agents), *(("tool", name) for name in tools)}
    return {(kind, name) for kind, name in steps if name not in names}


def _find_steps(trace: Trace, names: set[str], minor: set[Step]) -> list[tuple[str, bool]]:
    """Return the steps of the kinds that the names refer to, without the minor ones.

    Each comes with whether it is an agent that continues from the previous turn.
    """
    with_tools = bool(names & _tools(trace))
    with_agents = bool(names & set(trace.agents)) or not with_tools
    steps: list[tuple[str, bool]] = []
    previous: str | None = None
    for turn in trace.turns:
        for kind, name in _turn_steps(turn):
            counts = with_agents if kind == "agent" else with_tools
            if counts and (kind, name) not in minor:
                steps.append((name, kind == "agent" and name == previous))
            previous = None if kind == "agent" else previous
        previous = turn.agents[-1] if turn.agents else previous
    return steps


def _turn_steps(turn: Turn) -> list[Step]:
    """Return the agents of a turn, each followed by its tool calls.

    Calls of an unknown agent come after the last agent.
    """
    remaining = list(turn.tool_calls or ())
    steps: list[Step] = []
    for number, agent in enumerate(turn.agents, 1):
        steps.append(("agent", agent))
        # An agent may appear twice with calls of others in between. Only the calls at the head of
        # the list surely belong to this appearance; the last appearance takes all that are left.
        last = agent not in turn.agents[number:]
        while remaining and remaining[0].agent == agent:
            steps.append(("tool", remaining.pop(0).name))
        if last:
            own, remaining = _split_by_agent(remaining, agent)
            steps.extend(("tool", call.name) for call in own)
    steps.extend(("tool", call.name) for call in remaining)
    return steps


def _split_by_agent(calls: list[ToolCall], agent: str) -> tuple[list[ToolCall], list[ToolCall]]:
    own = [call for call in calls if call.agent == agent]
    return own, [call for call in calls if call.agent != agent]


def _format_path(steps: Sequence[str]) -> str:
    return " → ".join(steps) or "nothing"


_VALUES: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "similarity": _similarity,
    "exact": lambda expected, actual: float(list(expected) == list(actual)),
    "in_order": lambda expected, actual: float(is_subsequence(expected, actual)),
    "any_order": lambda expected, actual: float(Counter(expected) <= Counter(actual)),
}
