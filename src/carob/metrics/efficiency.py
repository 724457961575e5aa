"""ADK's four figures of effort: per turn, then the mean, bit for bit.

A turn that was not timed is left out of the mean duration. A turn that counted no tokens is zero
tokens in the mean, as long as another turn counted some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.pairs import mean
from carob.schema import Case, Score, Trace, Turn, Unscored, Usage
from carob.schema.scale import Scale


class _Effort(Metric):
    """Lower is better, and nothing passes or fails by it."""

    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"


@dataclass(frozen=True, kw_only=True)
class ToolCallCount(_Effort):
    """Tool calls per turn."""

    name: ClassVar[str] = "tool_call_count_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("tool_calls",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return _average(trace.turns, _tool_calls, "tool calls were not recorded")


@dataclass(frozen=True, kw_only=True)
class InferenceCallCount(_Effort):
    """Model calls per turn."""

    name: ClassVar[str] = "inference_call_count_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("models",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if not trace.model_calls:
            return Unscored(reason="no model call was recorded")
        return _average(trace.turns, lambda turn: float(len(turn.model_calls)), "")


@dataclass(frozen=True, kw_only=True)
class TurnTokens(_Effort):
    """Tokens per turn: input and output, those of thoughts and of tool results included."""

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
class TurnDuration(_Effort):
    """Seconds per turn, from its start to its end; the mean is rounded to milliseconds."""

    name: ClassVar[str] = "invocation_duration_v1"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("timing",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        outcome = _average(trace.turns, _seconds, "timing was not recorded")
        if isinstance(outcome, Unscored):
            return outcome
        return Score(value=round(outcome.value, 3), turns=outcome.turns)


def total(usage: Usage) -> int | None:
    """All tokens of a call: the sum of its parts, or the recorded total where there are none."""
    parts = (usage.input_tokens, usage.output_tokens, usage.tool_tokens)
    counted = [part for part in parts if part is not None]
    return sum(counted) if counted else usage.total_tokens


def _average(
    turns: Sequence[Turn], measure: Callable[[Turn], float | None], absent: str
) -> Score | Unscored:
    values = tuple(measure(turn) for turn in turns)
    known = [value for value in values if value is not None]
    return Score(value=mean(known), turns=values) if known else Unscored(reason=absent)


def _tool_calls(turn: Turn) -> float | None:
    return None if turn.tool_calls is None else float(len(turn.tool_calls))


def _tokens(turn: Turn) -> float | None:
    totals = [total(call.usage) for call in turn.model_calls]
    counted = [tokens for tokens in totals if tokens is not None]
    return float(sum(counted)) if counted else None


def _seconds(turn: Turn) -> float | None:
    if turn.start is None or turn.end is None:
        return None
    return (turn.end - turn.start) / 1e9
