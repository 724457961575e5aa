"""The parts of one turn, sorted by role, and which agent each works for."""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from carob.schema import Span
from carob.traces.mapping.roles import RoleSpan
from carob.traces.messages.message import Message
from carob.traces.shape import text_or_none

_RESPONSE = re.compile(r'\{\s*"id":\s*"([^"]{1,200})"')
"""The id that a whole response begins with."""
WINDOW = 64
"""Agents before a span that are looked at for the one that it works for."""


class ModelSpans(msgspec.Struct, eq=False, gc=False):
    """One model call, however many spans recorded it."""

    outer: RoleSpan
    parts: list[RoleSpan]
    """All spans that recorded it, the outermost first."""
    agent: str | None
    said: list[Message]
    """What it answered; empty if that is not recorded."""
    key: str | None


class TurnSpans(msgspec.Struct, eq=False, gc=False):
    """The parts of one turn, sorted by role."""

    roots: list[Span] = []
    owners: list[RoleSpan] = []
    """Agents and workflows."""
    owner: RoleSpan | None = None
    """The earliest of them."""
    models: list[ModelSpans] = []
    tools: list[RoleSpan] = []
    chains: list[RoleSpan] = []
    retrievers: list[RoleSpan] = []
    sources: dict[str, str] = {}

    @property
    def first_agent(self) -> RoleSpan | None:
        """The earliest agent that is no mere wrapper."""
        for reading in self.owners:
            if reading.role == "agent":
                return reading
        return None

    @property
    def last_agent(self) -> RoleSpan | None:
        """The agent that ends last of those that speak for themselves rather than as a tool.

        Not the one that starts last: an agent that is used as a tool may be recorded beside the one
        that uses it, and starts later but has no say in the end.
        """
        agents = [one for one in self.owners if one.role == "agent" and one.place.inside is None]
        return max(agents, key=lambda one: one.span.end or 0, default=None)


def group_by_role(readings: list[RoleSpan]) -> TurnSpans:
    """The parts by role; spans that recorded the same model call become one."""
    work = TurnSpans()
    parts: dict[int, list[RoleSpan]] = {}
    answered: dict[str, RoleSpan] = {}
    tools, owners = work.tools, work.owners
    for reading in readings:
        role = reading.role
        if role == "tool":
            tools.append(reading)
        elif role == "model":
            outer = reading.place.model
            if outer is None and reading.convention.names_responses:
                outer = _twin(reading, answered)
            if outer is None:
                parts.setdefault(id(reading), [reading])
            else:
                parts.setdefault(id(outer), [outer]).append(reading)
        elif role == "chain":
            work.chains.append(reading)
        elif role == "retriever":
            work.retrievers.append(reading)
        else:
            owners.append(reading)
    work.owner = owners[0] if owners else None
    work.models = [_model(part, work) for part in parts.values()]
    if not work.owners:
        roots = {id(root): root for reading in readings if (root := reading.place.root)}
        work.roots = list(roots.values())
    return work


def _twin(reading: RoleSpan, answered: dict[str, RoleSpan]) -> RoleSpan | None:
    """The call with the same response at the same time: two recorders may stand side by side."""
    attributes = reading.span.attributes
    key = attributes.get("gen_ai.response.id")
    if key is None and (
        match := _RESPONSE.match(text_or_none(attributes.get("output.value")) or "")
    ):
        key = match[1]
    if not isinstance(key, str):
        return None
    other = answered.setdefault(key, reading)
    if other is reading or not _spans(other.span, reading.span.start):
        return None
    reading.leaf = False
    return other


def _model(parts: list[RoleSpan], work: TurnSpans) -> ModelSpans:
    outer = parts[0]
    agent = outer.place.worker or agent_of(outer, work)
    for reading in parts:
        found = reading.answered()
        if found is not None:
            return ModelSpans(outer, parts, agent, found[1], found[0])
    return ModelSpans(outer, parts, agent, [], None)


def agent_of(reading: RoleSpan, work: TurnSpans) -> str | None:
    """The agent that a span works for: the one around it, else the one it names or overlaps."""
    around = reading.place.worker
    if around is not None:
        return around
    if named := text_or_none(reading.span.attributes.get("gen_ai.agent.name")):
        return named
    start = reading.span.start
    begun = bisect_right(work.owners, start or 0, key=lambda owner: owner.span.start or 0)
    for agent in reversed(work.owners[max(0, begun - WINDOW) : begun]):
        if agent.role == "agent" and _spans(agent.span, start):
            return agent.name
    return workflow_name(work)


def _spans(span: Span, time: int | None) -> bool:
    if time is None or span.start is None or span.end is None:
        return False
    return span.start <= time <= span.end


def workflow_name(work: TurnSpans) -> str | None:
    if any(reading.role == "agent" and reading.name for reading in work.owners):
        return None
    return next((reading.name for reading in work.owners if reading.name), None)
