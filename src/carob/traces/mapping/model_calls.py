"""The model calls of a turn, each counted once however many spans recorded it."""

from __future__ import annotations

from carob.schema import ModelCall, Usage
from carob.traces.mapping.roles import Reading
from carob.traces.mapping.tools import failure
from carob.traces.mapping.work import Model, Work


def model_calls(work: Work) -> tuple[ModelCall, ...]:
    """One per leaf of each chain of spans that recorded the same call."""
    if work.models:
        calls: list[ModelCall] = []
        for model in work.models:
            parts = model.parts
            leaves = [reading for reading in parts if reading.leaf] if len(parts) > 1 else parts
            if len(leaves) == 1 and leaves[0].leaf:
                calls.append(_model_call(model, leaves[0], parts))
            elif len(parts) > 1:
                calls.extend(_model_call(model, leaf, [leaf]) for leaf in leaves)
        return tuple(calls)
    # Without a single model call the agent's own count is all there is.
    for owner in (work.owner, work.first_agent):
        usage = owner.convention.usage(owner.span) if owner else Usage()
        if owner is not None and usage != Usage():
            return (_summed(owner, usage, work),)
    return ()


def _summed(owner: Reading, usage: Usage, work: Work) -> ModelCall:
    span = owner.span
    agents = (one.convention.model(one.span) for one in (owner, *work.owners))
    model = next((name for name in agents if name), None)
    return ModelCall(model=model, usage=usage, agent=owner.name, start=span.start, end=span.end)


def _model_call(model: Model, leaf: Reading, parts: list[Reading]) -> ModelCall:
    """The tokens of the innermost span that counts them, the rest from the outermost that tells."""
    convention, span = leaf.convention, leaf.span
    usage = convention.usage(span)
    name, provider = convention.model(span), convention.provider(span)
    finish = convention.finish(span) if convention.finishes else None
    if len(parts) > 1:
        for reading in reversed(parts):
            if usage.input_tokens is not None or usage.output_tokens is not None:
                break
            usage = reading.convention.usage(reading.span)
        name = provider = finish = None
        for reading in parts:
            name = name or reading.convention.model(reading.span)
            provider = provider or reading.convention.provider(reading.span)
            finish = finish or reading.convention.finish(reading.span)
    if finish is None:
        for said in model.said:
            finish = finish or said.finish
    # By position, in the order of the fields: names cost a third of the time.
    return ModelCall(
        name,
        provider,
        usage,
        model.agent,
        finish or None,
        failure(span) if span.status == "error" else None,
        span.start,
        span.end,
    )
