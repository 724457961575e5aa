"""Build turns from grouped spans: the engine behind all conventions."""

from __future__ import annotations

from collections.abc import Iterable

from carob.schema import AgentMessage, Json, ModelCall, Turn, Usage
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_calls import find_tool_calls
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, workflow_name
from carob.traces.messages.message import last_answer, last_user
from carob.traces.messages.printed import is_printed_object

_NO_TIME = 1 << 63


def build_turn(turn: TurnSpans) -> Turn:
    """Build a turn: the user's text, what the agents did, and the response."""
    sources = turn.sources
    calls = find_tool_calls(turn)
    user = _note_source(sources, "user", _find_user_text(turn))
    response = _note_source(sources, "response", _find_response(turn))
    start, end = _times(turn)
    return Turn(
        user=user,
        response=response,
        tool_calls=tuple([call.to_call() for call in calls])
        if calls or _records_calls(turn)
        else None,
        tool_results=tuple([result for call in calls if (result := call.to_result())]),
        messages=_intermediate_messages(turn, response),
        agents=_agent_names(turn),
        model_calls=_model_calls(turn),
        grounding=_grounding(turn),
        error=_error(turn, response),
        start=start,
        end=end,
    )


def _times(turn: TurnSpans) -> tuple[int | None, int | None]:
    """The start and end of the owner, else of the roots, else of everything that has a time."""
    if turn.owner and turn.owner.span.start is not None:
        return turn.owner.span.start, turn.owner.span.end
    spans = [turn.owner.span] if turn.owner else turn.roots
    if spans[0].start is None:
        parts = [*turn.owners, *(model.outer for model in turn.models), *turn.tools]
        spans = sorted((part.span for part in parts), key=lambda span: span.start or _NO_TIME)
    end = max((span.end for span in spans if span.end is not None), default=None)
    return spans[0].start, end


def _note_source(sources: dict[str, str], field: str, text: tuple[str, str] | None) -> str | None:
    if text is None:
        return None
    sources.setdefault(field, text[0])
    return text[1]


def _find_user_text(turn: TurnSpans) -> tuple[str, str] | None:
    """The user's text and its source: of the owner, else of the first model call, else of the
    run's messages, else of the first step."""
    near = _distinct(turn.owner, turn.first_agent)
    for role_spans in (near, turn.models[0].spans) if turn.models else (near,):
        for role_span in role_spans:
            text = role_span.convention.user_text(role_span.span)
            if text is not None and not is_printed_object(text[1]):
                return text
    for role_span in near:
        transcript = role_span.convention.transcript_messages(role_span.span)
        if transcript is not None and (last := last_user(transcript[1])) is not None:
            return transcript[0], last
    for role_span in turn.chains[:1]:
        if text := role_span.convention.user_text(role_span.span):
            return text
    return None


def _find_response(turn: TurnSpans) -> tuple[str, str] | None:
    """The response and its source: of the owner, else of the last model call that does not work
    for a tool, else of any step. An empty response counts only if there is no other."""
    text = _owner_response(turn)
    if text is not None and text[1] and not is_printed_object(text[1]):
        return text
    empty = text
    models = [model for model in reversed(turn.models) if model.outer.context.outer_tool is None]
    for model in models:
        # If the last model call is not recorded, the answer of another agent is not the response.
        if models[0].messages or model.agent == models[0].agent:
            answer = last_answer(model.messages)
            if answer:
                return model.source or "", answer
            if answer is not None:
                empty = empty or (model.source or "", answer)
    return _raw_response(turn) or empty


def _owner_response(turn: TurnSpans) -> tuple[str, str] | None:
    empty = None
    for role_span in _distinct(turn.owner, turn.last_agent):
        text = role_span.convention.response_text(role_span.span)
        if text is not None and text[1] and not is_printed_object(text[1]):
            return text
        empty = empty or text
    return empty


def _distinct(owner: RoleSpan | None, agent: RoleSpan | None) -> list[RoleSpan]:
    if owner is None:
        return []
    return [owner] if agent is None or agent is owner else [owner, agent]


def _raw_response(turn: TurnSpans) -> tuple[str, str] | None:
    owner = turn.owner
    if owner is not None and (raw := owner.convention.raw_output(owner.span)):
        return raw
    for chain in turn.chains[:1]:
        if text := chain.convention.response_text(chain.span):
            return text
    for chain in reversed(turn.chains if owner is not None else ()):
        is_child = owner is not None and chain.span.parent_id == owner.span.span_id
        if is_child and (text := chain.convention.response_text(chain.span)):
            return text
    return None


def _records_calls(turn: TurnSpans) -> bool:
    """Whether the absence of tool calls means that none were made, not that none were recorded."""
    if turn.models:
        return bool(turn.owners) or any(model.messages for model in turn.models)
    # An agent of which only the last message is recorded may have done anything before it.
    owner = turn.owner
    output = owner.convention.output_messages(owner.span) if owner else None
    return output is not None and len(output[1]) > 1


def _intermediate_messages(turn: TurnSpans, response: str | None) -> tuple[AgentMessage, ...]:
    """The texts of the models, without the response itself."""
    messages = [
        AgentMessage(model.agent or "", message.text)
        for model in turn.models
        for message in model.messages
        if message.text and message.role == "assistant" and not message.text.isspace()
    ]
    if messages and response is not None and messages[-1].text.strip() == response.strip():
        messages.pop()
    return tuple(messages)


def _agent_names(turn: TurnSpans) -> tuple[str, ...]:
    """The agents in order of start; an agent that acts again after another is named again."""
    agents = [owner for owner in turn.owners if owner.role == "agent" and owner.name]
    if not agents:
        candidates = [workflow_name(turn), *(model.agent for model in turn.models)]
        return _without_repeats(name for name in candidates if name)
    if len(agents) == 1:
        return (agents[0].name or "",)
    steps = [(agent.span.start or 0, 0, agent.name, agent.span.end) for agent in agents]
    steps += [(model.outer.span.start or 0, 1, model.agent, None) for model in turn.models]
    # A model call shows that its agent acts again after another one. It does not while the agent
    # that started last is still running: then the two overlap.
    names: list[str] = []
    last_end = 0
    for start, kind, name, end in sorted(steps, key=lambda step: step[:2]):
        if not name or (names and names[-1] == name):
            continue
        if kind == 0:
            last_end = end or 0
        elif start < last_end:
            continue
        names.append(name)
    return tuple(names)


def _without_repeats(names: Iterable[str]) -> tuple[str, ...]:
    distinct: list[str] = []
    for name in names:
        if not distinct or distinct[-1] != name:
            distinct.append(name)
    return tuple(distinct)


def _grounding(turn: TurnSpans) -> tuple[Json, ...] | None:
    chunks: list[Json] = []
    for retriever in turn.retrievers:
        attributes = retriever.span.attributes
        index = 0
        while (key := f"retrieval.documents.{index}.document.content") in attributes:
            chunks.append(attributes[key])
            index += 1
    for model in turn.models:
        chunks += model.outer.convention.grounding(model.outer.span)
    return tuple(chunks) or None


def _error(turn: TurnSpans, response: str | None) -> str | None:
    owner = turn.owner.span if turn.owner else turn.roots[0]
    if owner.status == "error":
        return failure_reason(owner) or "the agent failed"
    last = turn.models[-1].outer.span if turn.models else None
    if response is None and last is not None and last.status == "error":
        return failure_reason(last) or "the model call failed"
    return None


def _model_calls(turn: TurnSpans) -> tuple[ModelCall, ...]:
    """The model calls, each counted once, however many spans record it.

    Nested spans record one call; where an outer span holds several calls (a retry, a fallback
    model), each innermost span is a call.
    """
    if turn.models:
        calls: list[ModelCall] = []
        for model in turn.models:
            spans = model.spans
            leaves = [span for span in spans if span.is_leaf] if len(spans) > 1 else spans
            if len(leaves) == 1 and leaves[0].is_leaf:
                calls.append(_model_call(model, leaves[0], spans))
            elif len(spans) > 1:
                calls.extend(_model_call(model, leaf, [leaf]) for leaf in leaves)
        return tuple(calls)
    # Without any model call, the agent's own count is all there is.
    for owner in (turn.owner, turn.first_agent):
        usage = owner.convention.usage(owner.span) if owner else Usage()
        if owner is not None and usage != Usage():
            return (_total_call(owner, usage, turn),)
    return ()


def _total_call(owner: RoleSpan, usage: Usage, turn: TurnSpans) -> ModelCall:
    span = owner.span
    names = (agent.convention.model_name(agent.span) for agent in (owner, *turn.owners))
    model = next((name for name in names if name), None)
    return ModelCall(model=model, usage=usage, agent=owner.name, start=span.start, end=span.end)


def _model_call(model: ModelSpans, leaf: RoleSpan, spans: list[RoleSpan]) -> ModelCall:
    """Tokens come from the innermost span that counts them, other fields from the outermost."""
    convention, span = leaf.convention, leaf.span
    usage = convention.usage(span)
    name, provider = convention.model_name(span), convention.provider_name(span)
    finish = convention.finish_reason(span) if convention.finishes else None
    if len(spans) > 1:
        for inner in reversed(spans):
            if usage.input_tokens is not None or usage.output_tokens is not None:
                break
            usage = inner.convention.usage(inner.span)
        name = provider = finish = None
        for outer in spans:
            name = name or outer.convention.model_name(outer.span)
            provider = provider or outer.convention.provider_name(outer.span)
            finish = finish or outer.convention.finish_reason(outer.span)
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
