"""The parts of a case and a trace that metrics need, and whether a trace has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from carob.schema import Trace, Unscored, Usage

if TYPE_CHECKING:
    from carob.metrics.metric import Metric

Need: TypeAlias = Literal[
    "user",
    "response",
    "tool_calls",
    "tool_args",
    "tool_results",
    "agents",
    "state",
    "usage",
    "models",
    "timing",
    "grounding",
    "case.response",
    "case.tool_calls",
    "case.trajectory",
    "case.state",
    "case.agents",
    "case.contract",
    "case.context",
    "case.contains",
    "case.assertions",
    "case.goal",
    "case.scenario",
]


def missing_data(metric: Metric | type[Metric], trace: Trace) -> str | None:
    """Return the first need of the metric that the trace does not meet, in words."""
    return next((why for need in metric.needs if (why := unmet_need(need, trace))), None)


def known_gap(metric: Metric | type[Metric], trace: Trace) -> str | None:
    """Return why a part of the trace that the metric needs is known to be missing."""
    return next((trace.gaps[need] for need in metric.needs if need in trace.gaps), None)


def unmet_need(need: Need, trace: Trace) -> str | None:
    """Return why the trace does not meet a need; `None` if it does, or if the case must meet it."""
    if need in trace.gaps:
        return trace.gaps[need]
    check = _CHECKS.get(need)
    return check[1] if check is not None and not check[0](trace) else None


def has_usage(usage: Usage) -> bool:
    """Tell whether any token count was recorded."""
    return usage != Usage()


def records_text(trace: Trace) -> bool:
    """Tell whether texts of the user or of an agent were recorded.

    Frameworks can record traces without content. Only in a trace that has text does a turn without
    a response mean that the agent gave none.
    """
    for turn in trace.turns:  # a loop, because `any` takes twice as long and runs for every pair
        if turn.user is not None or turn.response is not None or turn.messages:
            return True
    return False


NO_ARGS = Unscored(reason="the arguments of tool calls were not recorded")


def has_args(trace: Trace) -> bool:
    """Tell whether the arguments of tool calls were recorded, if there were calls."""
    # Frameworks can record calls without arguments. In a trace that has the arguments of any call,
    # a call without arguments really had none.
    was_called = False
    for turn in trace.turns:
        for call in turn.tool_calls or ():
            if call.args is not None:
                return True
            was_called = True
    return not was_called


def _has_results(trace: Trace) -> bool:
    called = any(turn.tool_calls for turn in trace.turns)
    return not called or any(
        turn.tool_results or any(call.outcome for call in turn.tool_calls or ())
        for turn in trace.turns
    )


_CHECKS: Mapping[Need, tuple[Callable[[Trace], bool], str]] = {
    "user": (
        lambda trace: any(turn.user is not None for turn in trace.turns),
        "no user message was recorded",
    ),
    "response": (
        lambda trace: any(turn.response is not None for turn in trace.turns),
        "no response was recorded",
    ),
    "tool_calls": (
        lambda trace: any(turn.tool_calls is not None for turn in trace.turns),
        "tool calls were not recorded",
    ),
    "tool_args": (has_args, NO_ARGS.reason),
    "tool_results": (_has_results, "tool results were not recorded"),
    "agents": (lambda trace: bool(trace.agents), "no agent was recorded"),
    "state": (lambda trace: trace.state is not None, "the session state was not recorded"),
    "usage": (
        lambda trace: any(has_usage(call.usage) for call in trace.model_calls),
        "token usage was not recorded",
    ),
    "models": (lambda trace: bool(trace.models), "no model name was recorded"),
    "timing": (lambda trace: trace.duration_ms is not None, "timing was not recorded"),
    "grounding": (
        lambda trace: any(turn.grounding is not None for turn in trace.turns),
        "grounding was not recorded",
    ),
}
