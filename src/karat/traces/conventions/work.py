"""The parts of one turn, sorted by role, and which agent each works for."""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from karat.schema import Span
from karat.traces.conventions.decoding import text
from karat.traces.conventions.reading import Reading
from karat.traces.conventions.said import Said

_RESPONSE = re.compile(r'\{\s*"id":\s*"([^"]{1,200})"')
"""The id that a whole response begins with."""
WINDOW = 64
"""Agents before a span that are looked at for the one that it works for."""


class Model(msgspec.Struct, eq=False, gc=False):
    """One model call, however many spans recorded it."""

    parts: list[Reading]
    """The outermost span first."""
    agent: str | None
    said: list[Said]
    """What it answered; empty if that is not recorded."""
    key: str | None

    @property
    def outer(self) -> Reading:
        return self.parts[0]


class Work(msgspec.Struct, eq=False, gc=False):
    """The parts of one turn, sorted by role."""

    roots: list[Span]
    owners: list[Reading]
    """Agents and workflows."""
    models: list[Model]
    tools: list[Reading]
    chains: list[Reading]
    retrievers: list[Reading]
    sources: dict[str, str]

    @property
    def owner(self) -> Reading | None:
        """The earliest agent or workflow."""
        return self.owners[0] if self.owners else None

    @property
    def first_agent(self) -> Reading | None:
        """The earliest agent that is no mere wrapper."""
        for reading in self.owners:
            if reading.role == "agent":
                return reading
        return None

    @property
    def last_agent(self) -> Reading | None:
        """The agent that ends last of those that speak for themselves rather than as a tool.

        Not the one that starts last: an agent that is used as a tool may be recorded beside the one
        that uses it, and starts later but has no say in the end.
        """
        agents = [one for one in self.owners if one.role == "agent" and one.inside is None]
        return max(agents, key=lambda one: one.span.end or 0, default=None)


def sort(readings: list[Reading]) -> Work:
    """The parts by role; spans that recorded the same model call become one."""
    work = Work([], [], [], [], [], [], {})
    parts: dict[int, list[Reading]] = {}
    answered: dict[str, Reading] = {}
    for reading in readings:
        role = reading.role
        if role == "model":
            outer = reading.model or _twin(reading, answered)
            if outer is None:
                parts.setdefault(id(reading), [reading])
            else:
                parts.setdefault(id(outer), [outer]).append(reading)
        elif role == "tool":
            work.tools.append(reading)
        elif role == "chain":
            work.chains.append(reading)
        elif role == "retriever":
            work.retrievers.append(reading)
        else:
            work.owners.append(reading)
    work.models = [_model(part, work) for part in parts.values()]
    if not work.owners:
        work.roots = list({id(reading.root): reading.root for reading in readings}.values())
    return work


def _twin(reading: Reading, answered: dict[str, Reading]) -> Reading | None:
    """The call with the same response at the same time: two recorders may stand side by side."""
    attributes = reading.span.attributes
    key = attributes.get("gen_ai.response.id")
    if key is None and (match := _RESPONSE.match(text(attributes.get("output.value")) or "")):
        key = match[1]
    if not isinstance(key, str):
        return None
    other = answered.setdefault(key, reading)
    if other is reading or not _spans(other.span, reading.span.start):
        return None
    reading.leaf = False
    return other


def _model(parts: list[Reading], work: Work) -> Model:
    key, said = None, list[Said]()
    for reading in parts:
        found = reading.convention.answered(reading.span)
        if found is not None:
            key, said = found
            break
    return Model(parts, worker(parts[0], work), said, key)


def worker(reading: Reading, work: Work) -> str | None:
    """The agent that a span works for: the one around it, else the one it names or overlaps."""
    around = reading.agent
    while around is not None and (around.name is None or around.role != "agent"):
        around = around.agent
    if around is not None:
        return around.name
    if named := text(reading.span.attributes.get("gen_ai.agent.name")):
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


def workflow_name(work: Work) -> str | None:
    if any(reading.role == "agent" and reading.name for reading in work.owners):
        return None
    return next((reading.name for reading in work.owners if reading.name), None)
