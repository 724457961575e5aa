"""Join the runs of sub-agents that have a file of their own to the session that started them.

A sub-agent's calls and tokens belong to the turn that delegated to it, and its prompt is not a
message of the user.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import msgspec

from carob.schema import ModelCall, ToolCall, Trace, Turn
from carob.traces.shape import as_object

DELEGATED_BY = "delegated_by"
"""The attribute of a sub-agent's trace that names the session."""


def is_delegated(trace: Trace) -> bool:
    """Whether a trace is the run of a sub-agent."""
    return DELEGATED_BY in trace.attributes


def join_delegated(turns: Iterable[Turn], runs: Iterable[Turn]) -> list[Turn]:
    """Return the turns of a session with the runs of its sub-agents, both in order of time."""
    joined = list(turns)
    for run in runs:
        index = _find_turn(joined, run)
        joined[index] = _add_run(joined[index], run)
    return joined


def _find_turn(turns: list[Turn], run: Turn) -> int:
    """The turn with the call that has the prompt of the run; else the one that was going on."""
    earlier = [
        index
        for index, turn in enumerate(turns)
        if (turn.start or 0) <= (run.start or turn.start or 0)
    ]
    asking = [index for index in earlier if _delegating_call(turns[index], run) is not None]
    return (asking or earlier or [0])[-1]


def _delegating_call(turn: Turn, run: Turn) -> int | None:
    prompts = (as_object(call.args).values() for call in turn.tool_calls or ())
    return next((index for index, values in enumerate(prompts) if run.user in values), None)


def _add_run(turn: Turn, run: Turn) -> Turn:
    calls, position = [*(turn.tool_calls or ())], _delegating_call(turn, run)
    name = _agent_name(calls[position]) if position is not None else None
    name = name or "subagent"
    place = len(calls) if position is None else position + 1
    calls[place:place] = [
        msgspec.structs.replace(call, agent=call.agent or name) for call in run.tool_calls or ()
    ]
    order = {call.id: index for index, call in enumerate(calls)}
    results = sorted(
        (*turn.tool_results, *run.tool_results), key=lambda result: order.get(result.id, len(order))
    )
    models = [msgspec.structs.replace(call, agent=call.agent or name) for call in run.model_calls]
    agents = (*turn.agents, name, *run.agents)
    is_known = turn.tool_calls is not None and run.tool_calls is not None
    return msgspec.structs.replace(
        turn,
        tool_calls=tuple(calls) if is_known else None,
        tool_results=tuple(results),
        agents=tuple(agent for agent, _ in groupby(agents)),
        model_calls=tuple(sorted((*turn.model_calls, *models), key=_end_of)),
    )


def _agent_name(call: ToolCall) -> str | None:
    name = as_object(call.args).get("subagent_type")
    return name if isinstance(name, str) and name else None


def _end_of(call: ModelCall) -> int:
    return call.end or call.start or 0
