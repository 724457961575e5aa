"""Group the spans of one turn by role, and find the agent that each works for."""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from carob.schema import Span
from carob.traces.mapping.roles import RoleSpan
from carob.traces.messages.message import Message
from carob.traces.shape import text_or_none

_RESPONSE_ID = re.compile(r'\{\s*"id":\s*"([^"]{1,200})"')
"""The id at the beginning of a recorded response."""
_MAX_OWNERS = 64
"""Agents that started before a span and are compared with it."""


class ModelSpans(msgspec.Struct, eq=False, gc=False):
    """One model call, which several spans may record."""

    outer: RoleSpan
    spans: list[RoleSpan]
    """All spans that record it, the outermost first."""
    agent: str | None
    messages: list[Message]
    """The messages that the model returned; empty if they are not recorded."""
    source: str | None


class TurnSpans(msgspec.Struct, eq=False, gc=False):
    """The spans of one turn, grouped by role."""

    roots: list[Span] = []
    owners: list[RoleSpan] = []
    """Agents and workflows."""
    owner: RoleSpan | None = None
    """The earliest owner."""
    models: list[ModelSpans] = []
    tools: list[RoleSpan] = []
    chains: list[RoleSpan] = []
    retrievers: list[RoleSpan] = []
    sources: dict[str, str] = {}

    @property
    def first_agent(self) -> RoleSpan | None:
        """The earliest agent, not counting workflows."""
        for owner in self.owners:
            if owner.role == "agent":
                return owner
        return None

    @property
    def last_agent(self) -> RoleSpan | None:
        """The agent that ends last, not counting agents that are used as tools.

        The agent that starts last would be wrong: an agent that is used as a tool may be recorded
        beside the one that uses it. It starts later, but does not write the response.
        """
        agents = [
            owner
            for owner in self.owners
            if owner.role == "agent" and owner.context.outer_tool is None
        ]
        return max(agents, key=lambda agent: agent.span.end or 0, default=None)


def group_by_role(role_spans: list[RoleSpan]) -> TurnSpans:
    """Group the spans of a turn; spans that record the same model call are grouped together."""
    turn = TurnSpans()
    by_outer_model: dict[int, list[RoleSpan]] = {}
    by_response: dict[str, RoleSpan] = {}
    tools, owners = turn.tools, turn.owners
    for role_span in role_spans:
        role = role_span.role
        if role == "tool":
            tools.append(role_span)
        elif role == "model":
            outer = role_span.context.model
            if outer is None and role_span.convention.has_response_id:
                outer = _find_twin(role_span, by_response)
            if outer is None:
                by_outer_model.setdefault(id(role_span), [role_span])
            else:
                by_outer_model.setdefault(id(outer), [outer]).append(role_span)
        elif role == "chain":
            turn.chains.append(role_span)
        elif role == "retriever":
            turn.retrievers.append(role_span)
        else:
            owners.append(role_span)
    turn.owner = owners[0] if owners else None
    turn.models = [_model_spans(spans, turn) for spans in by_outer_model.values()]
    if not turn.owners:
        roots = {id(root): root for role_span in role_spans if (root := role_span.context.root)}
        turn.roots = list(roots.values())
    return turn


def _find_twin(role_span: RoleSpan, by_response: dict[str, RoleSpan]) -> RoleSpan | None:
    """The span of the same response: two instrumentations may record a call side by side.

    The times must overlap as well, because caches return the same response again.
    """
    attributes = role_span.span.attributes
    response_id = attributes.get("gen_ai.response.id")
    if response_id is None:
        output = text_or_none(attributes.get("output.value"))
        match = _RESPONSE_ID.match(output) if output else None
        response_id = match[1] if match else None
    if not isinstance(response_id, str):
        return None
    twin = by_response.setdefault(response_id, role_span)
    if twin is role_span or not _covers(twin.span, role_span.span.start):
        return None
    role_span.is_leaf = False
    return twin


def _model_spans(spans: list[RoleSpan], turn: TurnSpans) -> ModelSpans:
    outer = spans[0]
    agent = outer.context.agent_name or agent_of(outer, turn)
    for role_span in spans:
        output = role_span.output_messages()
        if output is not None:
            return ModelSpans(outer, spans, agent, output[1], output[0])
    return ModelSpans(outer, spans, agent, [], None)


def agent_of(role_span: RoleSpan, turn: TurnSpans) -> str | None:
    """Return the agent that a span works for: the one around it, else one it names or overlaps."""
    around = role_span.context.agent_name
    if around is not None:
        return around
    if name := text_or_none(role_span.span.attributes.get("gen_ai.agent.name")):
        return name
    start = role_span.span.start
    # Owners are in order of time. Comparing a span with all of them is quadratic in long traces.
    end = bisect_right(turn.owners, start or 0, key=lambda owner: owner.span.start or 0)
    for agent in reversed(turn.owners[max(0, end - _MAX_OWNERS) : end]):
        if agent.role == "agent" and _covers(agent.span, start):
            return agent.name
    return workflow_name(turn)


def _covers(span: Span, time: int | None) -> bool:
    if time is None or span.start is None or span.end is None:
        return False
    return span.start <= time <= span.end


def workflow_name(turn: TurnSpans) -> str | None:
    """Return the name of the workflow, if no agent of the turn has a name."""
    if any(owner.role == "agent" and owner.name for owner in turn.owners):
        return None
    return next((owner.name for owner in turn.owners if owner.name), None)
