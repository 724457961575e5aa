"""Turns out of the parts that spans play: the one engine behind all conventions."""

from __future__ import annotations

from collections.abc import Iterable

from carob.schema import AgentMessage, Json, ModelCall, Turn, Usage
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_calls import tool_calls
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, workflow_name
from carob.traces.messages.message import last_answer, last_user
from carob.traces.messages.printed import is_printed_object


def build_turn(work: TurnSpans) -> Turn:
    """What the user said, what was done, what was answered."""
    sources = work.sources
    made = tool_calls(work)
    user = _noted(sources, "user", _user(work))
    response = _noted(sources, "response", _response(work))
    start, end = _times(work)
    return Turn(
        user=user,
        response=response,
        tool_calls=tuple([one.to_call() for one in made]) if made or _is_told(work) else None,
        tool_results=tuple([result for one in made if (result := one.to_result())]),
        messages=_messages(work, response),
        agents=_agents(work),
        model_calls=model_calls(work),
        grounding=_grounding(work),
        error=_error(work, response),
        start=start,
        end=end,
    )


def _times(work: TurnSpans) -> tuple[int | None, int | None]:
    """When the turn began and ended; an owner that was recorded without times is asked no more."""
    if work.owner and work.owner.span.start is not None:
        return work.owner.span.start, work.owner.span.end
    spans = [work.owner.span] if work.owner else work.roots
    if spans[0].start is None:
        parts = [*work.owners, *(model.outer for model in work.models), *work.tools]
        spans = sorted((part.span for part in parts), key=lambda span: span.start or 1 << 63)
    end = max((span.end for span in spans if span.end is not None), default=None)
    return spans[0].start, end


def _noted(sources: dict[str, str], field: str, found: tuple[str, str] | None) -> str | None:
    if found is None:
        return None
    sources.setdefault(field, found[0])
    return found[1]


def _user(work: TurnSpans) -> tuple[str, str] | None:
    """By the owner, else by the first model call, else by the run's messages or any step."""
    near = _distinct(work.owner, work.first_agent)
    for reading in near:
        found = reading.convention.user(reading.span)
        if found is not None and not is_printed_object(found[1]):
            return found
    for model in work.models[:1]:
        for reading in model.parts:
            found = reading.convention.user(reading.span)
            if found is not None and not is_printed_object(found[1]):
                return found
    for reading in near:
        found = reading.convention.transcript(reading.span)
        if found is not None and (said := last_user(found[1])) is not None:
            return found[0], said
    for reading in work.chains[:1]:
        if found := reading.convention.user(reading.span):
            return found
    return None


def _response(work: TurnSpans) -> tuple[str, str] | None:
    """By the owner, else by the last model call that is no tool's, else by any step."""
    found = _owner_response(work)
    if found is not None and found[1] and not is_printed_object(found[1]):
        return found
    empty = found
    spoke = [model for model in reversed(work.models) if model.outer.place.inside is None]
    for model in spoke:
        # Where the last word is not recorded, that of another agent does not stand in for it.
        if spoke[0].said or model.agent == spoke[0].agent:
            said = last_answer(model.said)
            if said:
                return model.key or "", said
            if said is not None:
                empty = empty or (model.key or "", said)
    return _raw_response(work) or empty


def _owner_response(work: TurnSpans) -> tuple[str, str] | None:
    empty = None
    for reading in _distinct(work.owner, work.last_agent):
        found = reading.convention.response(reading.span)
        if found is not None and found[1] and not is_printed_object(found[1]):
            return found
        empty = empty or found
    return empty


def _distinct(one: RoleSpan | None, two: RoleSpan | None) -> list[RoleSpan]:
    if one is None:
        return []
    return [one] if two is None or two is one else [one, two]


def _raw_response(work: TurnSpans) -> tuple[str, str] | None:
    owner = work.owner
    if owner is not None and (raw := owner.convention.raw_answer(owner.span)):
        return raw
    for reading in work.chains[:1]:
        if found := reading.convention.response(reading.span):
            return found
    for reading in reversed(work.chains if owner is not None else ()):
        own = owner is not None and reading.span.parent_id == owner.span.span_id
        if own and (found := reading.convention.response(reading.span)):
            return found
    return None


def _is_told(work: TurnSpans) -> bool:
    """Whether no calls means that none were made, rather than that none were recorded."""
    if work.models:
        return bool(work.owners) or any(model.said for model in work.models)
    # An agent of which only the last word is recorded may have done anything before it.
    owner = work.owner
    told = owner.convention.answered(owner.span) if owner else None
    return told is not None and len(told[1]) > 1


def _messages(work: TurnSpans, response: str | None) -> tuple[AgentMessage, ...]:
    """What was said on the way; the response itself is not on the way."""
    found = [
        AgentMessage(model.agent or "", said.text)
        for model in work.models
        for said in model.said
        if said.text and said.role == "assistant" and not said.text.isspace()
    ]
    if found and response is not None and found[-1].text.strip() == response.strip():
        found.pop()
    return tuple(found)


def _agents(work: TurnSpans) -> tuple[str, ...]:
    """Agents by start; one that acts again after another has ended is named again."""
    agents = [reading for reading in work.owners if reading.role == "agent" and reading.name]
    if not agents:
        names = [workflow_name(work), *(model.agent for model in work.models)]
        return _collapsed(name for name in names if name)
    if len(agents) == 1:
        return (agents[0].name or "",)
    steps = [(reading.span.start or 0, 0, reading.name, reading.span.end) for reading in agents]
    steps += [(model.outer.span.start or 0, 1, model.agent, None) for model in work.models]
    found: list[str] = []
    ended = 0
    for start, kind, name, end in sorted(steps, key=lambda step: step[:2]):
        if not name or (found and found[-1] == name):
            continue
        if kind == 0:
            ended = end or 0
        elif start < ended:
            continue
        found.append(name)
    return tuple(found)


def _collapsed(names: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        if not found or found[-1] != name:
            found.append(name)
    return tuple(found)


def _grounding(work: TurnSpans) -> tuple[Json, ...] | None:
    found: list[Json] = []
    for reading in work.retrievers:
        attributes = reading.span.attributes
        at = 0
        while (key := f"retrieval.documents.{at}.document.content") in attributes:
            found.append(attributes[key])
            at += 1
    for model in work.models:
        found += model.outer.convention.grounding(model.outer.span)
    return tuple(found) or None


def _error(work: TurnSpans, response: str | None) -> str | None:
    owner = work.owner.span if work.owner else work.roots[0]
    if owner.status == "error":
        return failure_reason(owner) or "the agent failed"
    last = work.models[-1].outer.span if work.models else None
    if response is None and last is not None and last.status == "error":
        return failure_reason(last) or "the model call failed"
    return None


def model_calls(work: TurnSpans) -> tuple[ModelCall, ...]:
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


def _summed(owner: RoleSpan, usage: Usage, work: TurnSpans) -> ModelCall:
    span = owner.span
    agents = (one.convention.model(one.span) for one in (owner, *work.owners))
    model = next((name for name in agents if name), None)
    return ModelCall(model=model, usage=usage, agent=owner.name, start=span.start, end=span.end)


def _model_call(model: ModelSpans, leaf: RoleSpan, parts: list[RoleSpan]) -> ModelCall:
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
        failure_reason(span) if span.status == "error" else None,
        span.start,
        span.end,
    )
