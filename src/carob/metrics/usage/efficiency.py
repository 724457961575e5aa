"""ADK's four efficiency metrics: the mean over turns, bit for bit the same numbers.

Turns without timing are left out of the mean duration. A turn without token counts is 0 tokens in
the mean, if another turn has counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.turns import mean
from carob.schema import Case, Score, Trace, Turn, Unscored, Usage
from carob.schema.outcome import Scale


class _EfficiencyMetric(Metric):
    """An informational metric for which lower is better."""

    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"


@dataclass(frozen=True, kw_only=True)
class ToolCallCount(_EfficiencyMetric):
    """Number of tool calls per turn."""

    name: ClassVar[str] = "tool_call_count_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return _mean_over_turns(trace.turns, _tool_calls, "tool calls were not recorded")


@dataclass(frozen=True, kw_only=True)
class InferenceCallCount(_EfficiencyMetric):
    """Number of model calls per turn."""

    name: ClassVar[str] = "inference_call_count_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("models",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if not trace.model_calls:
            return Unscored(reason="no model call was recorded")
        return _mean_over_turns(trace.turns, lambda turn: float(len(turn.model_calls)), "")


@dataclass(frozen=True, kw_only=True)
class TurnTokens(_EfficiencyMetric):
    """Tokens per turn: input and output, including reasoning and tool results."""

    name: ClassVar[str] = "token_usage_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        values = tuple(map(_tokens, trace.turns))
        known = [value for value in values if value is not None]
        if not known:
            return Unscored(reason="token usage was not recorded")
        return Score(value=sum(known) / len(values), turns=values)


@dataclass(frozen=True, kw_only=True)
class TurnDuration(_EfficiencyMetric):
    """Seconds per turn, from start to end. The mean is rounded to milliseconds."""

    name: ClassVar[str] = "invocation_duration_v1"
    version: ClassVar[int] = 2
    needs: ClassVar[tuple[Need, ...]] = ("timing",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        outcome = _mean_over_turns(trace.turns, _seconds, "timing was not recorded")
        if isinstance(outcome, Unscored):
            return outcome
        if any(seconds is not None and seconds < 0 for seconds in outcome.turns):
            return Unscored(reason="the recorded end is before the start")
        return Score(value=round(outcome.value, 3), turns=outcome.turns)


def total_tokens(usage: Usage) -> int | None:
    """Return all tokens of a call: the sum of its parts, or the recorded total without parts."""
    parts = (usage.input_tokens, usage.output_tokens, usage.tool_tokens)
    counted = [part for part in parts if part is not None]
    return sum(counted) if counted else usage.total_tokens


def _mean_over_turns(
    turns: Sequence[Turn], measure: Callable[[Turn], float | None], missing: str
) -> Score | Unscored:
    values = tuple(measure(turn) for turn in turns)
    known = [value for value in values if value is not None]
    return Score(value=mean(known), turns=values) if known else Unscored(reason=missing)


def _tool_calls(turn: Turn) -> float | None:
    return None if turn.tool_calls is None else float(len(turn.tool_calls))


def _tokens(turn: Turn) -> float | None:
    totals = [total_tokens(call.usage) for call in turn.model_calls]
    counted = [tokens for tokens in totals if tokens is not None]
    return float(sum(counted)) if counted else None


def _seconds(turn: Turn) -> float | None:
    if turn.start is None or turn.end is None:
        return None
    return (turn.end - turn.start) / 1e9
