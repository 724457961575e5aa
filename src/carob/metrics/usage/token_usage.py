"""Metrics of the tokens that model calls used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need, has_usage
from carob.metrics.usage.efficiency import total_tokens
from carob.schema import Case, Json, ModelCall, Score, Trace, Unscored, Usage
from carob.schema.outcome import Scale

_NOT_RECORDED = Unscored(reason="token usage was not recorded")


@dataclass(frozen=True, kw_only=True)
class TokenUsage(Metric):
    """All tokens of the trace: input, output including reasoning, and tool results.

    A kind of token that a call does not report counts as 0.
    """

    name: ClassVar[str] = "token_usage"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = _calls_with_usage(trace)
        if not calls:
            return _NOT_RECORDED
        usage = Usage.total(call.usage for call in calls)
        details: dict[str, Json] = {
            name: count
            for name in Usage.__struct_fields__
            if (count := getattr(usage, name)) is not None
        }
        tokens = sum(total_tokens(call.usage) or 0 for call in calls)
        details |= {"total_tokens": tokens, "calls": len(calls)}
        return Score(
            value=float(tokens), reason=describe_missing_usage(trace.model_calls), details=details
        )


@dataclass(frozen=True, kw_only=True)
class CacheEfficiency(Metric):
    """Share of the input tokens that came from the cache: cached / input."""

    name: ClassVar[str] = "cache_efficiency"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return _share(trace, "cached_tokens", "input_tokens")


@dataclass(frozen=True, kw_only=True)
class Thinking(Metric):
    """Share of the output tokens used for reasoning: reasoning / output."""

    name: ClassVar[str] = "thinking_metrics"
    version: ClassVar[int] = 1
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return _share(trace, "reasoning_tokens", "output_tokens")


@dataclass(frozen=True, kw_only=True)
class ContextSaturation(Metric):
    """Largest number of tokens in a single model call."""

    name: ClassVar[str] = "context_saturation"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = _calls_with_usage(trace)
        if not calls:
            return _NOT_RECORDED
        sizes = [total_tokens(call.usage) or 0 for call in calls]
        peak = calls[sizes.index(max(sizes))]
        details: dict[str, Json] = {"call": sizes.index(max(sizes)) + 1, "calls": len(calls)}
        if peak.model:
            details["model"] = peak.model
        return Score(value=float(max(sizes)), details=details)


@dataclass(frozen=True, kw_only=True)
class OutputDensity(Metric):
    """Output tokens per model call."""

    name: ClassVar[str] = "output_density"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        calls = _calls_with_usage(trace)
        if all(call.usage.output_tokens is None for call in calls):
            return Unscored(reason="output tokens were not recorded")
        output = sum(call.usage.output_tokens or 0 for call in calls)
        return Score(
            value=output / len(calls), details={"output_tokens": output, "calls": len(calls)}
        )


def describe_missing_usage(calls: Iterable[ModelCall]) -> str:
    """Say how many model calls recorded no tokens, which a total of tokens or costs lacks."""
    has_counts = [has_usage(call.usage) for call in calls]
    missing = has_counts.count(False)
    return f"{missing} of {len(has_counts)} model calls recorded no tokens" if missing else ""


def _calls_with_usage(trace: Trace) -> list[ModelCall]:
    return [call for call in trace.model_calls if has_usage(call.usage)]


def _share(trace: Trace, part: str, whole: str) -> Score | Unscored:
    """Return the share of the tokens of one kind that are also of another kind."""
    calls = _calls_with_usage(trace)
    if not calls:
        return _NOT_RECORDED
    part_count, whole_count = (
        sum(getattr(call.usage, kind) or 0 for call in calls) for kind in (part, whole)
    )
    if whole_count == 0:
        return Unscored(reason=f"no {_words(whole)} were recorded")
    if part_count > whole_count:
        return Unscored(
            reason=f"{part_count} {_words(part)} cannot be part of {whole_count} {_words(whole)}"
        )
    return Score(value=part_count / whole_count, details={part: part_count, whole: whole_count})


def _words(kind: str) -> str:
    return kind.replace("_", " ")
