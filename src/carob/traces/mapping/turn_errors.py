"""Why a turn failed: its agent, a step of the agent, or its last model call did."""

from __future__ import annotations

from carob.schema import Span
from carob.traces.mapping.roles import covers
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.mapping.turn_spans import TurnSpans


def find_error(turn: TurnSpans, response: str | None) -> str | None:
    """Return why a turn failed; `None` if it did not, or nothing shows it."""
    owner = turn.owner.span if turn.owner else turn.roots[0]
    # One of several steps whose agent is missing failed for itself: the agent may have gone on.
    is_whole = turn.owner is not None or (
        len(turn.roots) == 1 and not any(tool.span is owner for tool in turn.tools)
    )
    if owner.status == "error" and is_whole and (reason := failure_reason(owner)) is not None:
        return reason or "the agent failed"
    if response is not None:
        return None
    # An outer workflow may end well although the agent within was stopped, as by a step limit.
    for agent in reversed(turn.owners):
        if agent.span.status != "error" or turn.is_in_tool(agent):
            continue
        if (reason := failure_reason(agent.span)) is not None:
            return reason or "the agent failed"
    last = turn.models[-1].outer.span if turn.models else None
    if last is not None and last.status == "error":
        return failure_reason(last) or "the model call failed"
    return find_step_error(turn, last)


def find_step_error(turn: TurnSpans, last: Span | None) -> str | None:
    """Return why the step failed in which a run made its last model call. OpenAI's agents fail
    where the model calls a tool that they do not have, or a guardrail stops it: only their turn
    says so."""
    failed = [
        step.span
        for step in turn.chains
        if step.span.status == "error" and step.context.agent and not turn.is_in_tool(step)
    ]
    step = max(failed, key=lambda span: span.end or 0, default=None)
    if step is None or last is None or not covers(step, last.end):
        return None
    reason = failure_reason(step)
    return None if reason is None else reason or "a step of the agent failed"
