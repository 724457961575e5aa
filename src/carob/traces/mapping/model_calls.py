"""The model calls of a turn, with their tokens."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from carob.schema import ModelCall, Usage
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tokens import TokenCount
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans
from carob.traces.normalize import DROPPED

DROPPED_TOKENS = (
    "model calls lost attributes, and maybe tokens, to a limit: raise "
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
)


def find_model_calls(turn: TurnSpans) -> tuple[ModelCall, ...]:
    """Return the model calls of a turn, each counted once, however many spans record it.

    Nested spans record one call; where an outer span holds several calls (a retry, a fallback
    model), each innermost span is a call.
    """
    leaves = [leaf for model in turn.models for leaf in model.spans if leaf.is_leaf]
    counts = TokenCount(leaves, turn.counters)
    calls: list[ModelCall] = []
    for model in turn.models:
        for leaf in model.spans:
            if leaf.is_leaf:
                calls += _calls_of_leaf(model, leaf, counts.usage[id(leaf)])
    if any(DROPPED in leaf.span.attributes for leaf in leaves) and _is_uneven(calls):
        turn.gaps["usage"] = DROPPED_TOKENS
    if counts.without_call:
        calls += [_total_call(span, usage, turn) for span, usage in counts.without_call]
    return tuple(calls)


def _is_uneven(calls: list[ModelCall]) -> bool:
    """Whether some calls count a kind of token that others do not."""
    return any(
        len({getattr(call.usage, kind) is None for call in calls}) > 1
        for kind in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    )


def _calls_of_leaf(model: ModelSpans, leaf: RoleSpan, usage: Usage) -> Sequence[ModelCall]:
    """The call of an innermost span, or several if it records several requests and counts each."""
    call = _model_call(model, leaf, usage)
    requests = leaf.requests() if len(leaf.span.events) > 1 else None
    if not requests or Usage.total(requests) != usage:
        return (call,)
    return [msgspec.structs.replace(call, usage=part) for part in requests]


def _total_call(owner: RoleSpan, usage: Usage, turn: TurnSpans) -> ModelCall:
    span = owner.span
    names = (agent.convention.model_name(agent.span) for agent in (owner, *turn.owners))
    model = next((name for name in names if name), None)
    return ModelCall(model=model, usage=usage, agent=owner.name, start=span.start, end=span.end)


def _model_call(model: ModelSpans, leaf: RoleSpan, usage: Usage) -> ModelCall:
    """The call of one innermost span; other spans around it complete its fields."""
    convention, span = leaf.convention, leaf.span
    name, provider = convention.model_name(span), convention.provider_name(span)
    finish = convention.finish_reason(span) if convention.finishes else None
    if len(model.spans) > 1 and sum(span.is_leaf for span in model.spans) == 1:
        name = provider = finish = None
        for outer in model.spans:
            name = name or outer.convention.model_name(outer.span)
            provider = provider or outer.convention.provider_name(outer.span)
            finish = finish or outer.convention.finish_reason(outer.span)
    if name is None and (counter := leaf.context.counter) is not None and counter.role == "chain":
        name = counter.convention.model_name(counter.span)
    if finish is None:
        for message in model.messages:
            finish = finish or message.finish
    # Positional, because keyword arguments take a third of the time of this function.
    return ModelCall(
        name,
        provider,
        usage,
        model.agent,
        finish or None,
        failure_reason(span) if span.status == "error" else None,
        span.start,
        span.end,
    )
