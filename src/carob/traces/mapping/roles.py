"""The spans of a trace with their roles, and who is working inside whom."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from carob.schema import Span
from carob.traces.mapping.convention import Convention, SpanRole
from carob.traces.mapping.detect import identify
from carob.traces.messages.message import Message


class RoleSpan(msgspec.Struct, eq=False, gc=False):
    """A span that plays a part, and what is around it."""

    span: Span
    convention: Convention
    role: SpanRole
    place: SpanContext
    name: str | None = None
    """The name of an agent or a workflow."""
    leaf: bool = True
    """Whether no other model call is recorded within."""
    _asked: tuple[str, list[Message]] | UnsetType | None = UNSET
    _answered: tuple[str, list[Message]] | UnsetType | None = UNSET

    def asked(self) -> tuple[str, list[Message]] | None:
        """The messages that went in, read once, and the source that answered."""
        if self._asked is UNSET:
            self._asked = self.convention.asked(self.span)
        return self._asked

    def answered(self) -> tuple[str, list[Message]] | None:
        """The messages that came out, read once, and the source that answered."""
        if self._answered is UNSET:
            self._answered = self.convention.answered(self.span)
        return self._answered


class SpanContext(msgspec.Struct, eq=False):
    """What is around a span, the same for all children of one parent.

    Unlike the others it is known to the cycle collector: only such objects are freed one after the
    other rather than one within the other, where a chain of them is a hundred thousand long.
    """

    root: Span
    """The outermost span around it, whatever that is."""
    agent: RoleSpan | None = None
    """The agent or workflow that it works for."""
    tool: RoleSpan | None = None
    """The tool that it runs in, with no agent between."""
    model: RoleSpan | None = None
    """The outermost model call that it is a part of, with no agent or tool between."""
    nearest: RoleSpan | None = None
    """The innermost model call that it is a part of."""
    inside: RoleSpan | None = None
    """The outermost tool that it runs in, whatever is between."""
    top: RoleSpan | None = None
    """The outermost agent or workflow around it."""
    worker: str | None = None
    """The name of the nearest agent around it that has one."""
    skip: bool = False


def assign_roles(spans: Sequence[Span], *, late: bool = False) -> list[RoleSpan]:
    """The spans that play a part, in the order of the spans.

    `late` if parents that come after their children are known not to be there.
    """
    places: dict[str | None, SpanContext | RoleSpan] = {}
    readings: list[RoleSpan] = []
    for span in spans:
        parent = span.parent_id
        above = places.get(parent)
        if above is None:
            if parent is not None and not late:
                return _read_late(spans)
            above = SpanContext(span)
        elif isinstance(above, RoleSpan):
            # Most spans have no children: what is around those is made when the first one comes.
            above = places[parent] = _within(above)
        explained = None if above.skip else identify(span)
        if explained is None:
            places[span.span_id] = above
            continue
        known, convention, role = explained
        reading = RoleSpan(known, convention, role, above)
        readings.append(reading)
        places[span.span_id] = reading if role == "tool" else _entered(reading, readings)
    return readings


def _entered(reading: RoleSpan, readings: list[RoleSpan]) -> SpanContext | RoleSpan:
    """What is around the children of a span, or the reading that `_within` makes it of."""
    role, place = reading.role, reading.place
    if role == "model":
        if place.nearest is not None:
            place.nearest.leaf = False
        return reading
    if role == "agent" or role == "workflow":
        reading.name = reading.convention.agent(reading.span)
        if reading.name is None and place.agent is not None:
            reading.name = reading.convention.inner_agent(reading.span)
            reading.role = "agent"
        if reading.name is None:  # a run around agents, such as `Agent workflow`
            reading.role = "workflow"
        return reading
    if role == "skip":
        readings.pop()
        return SpanContext(place.root, skip=True)
    return place


def _read_late(spans: Sequence[Span]) -> list[RoleSpan]:
    """The same where a parent is not there, or comes after its children."""
    known = {span.span_id: span for span in spans}
    first: dict[str, Span] = {}
    for span in spans:
        chain: dict[str, Span] = {}
        above: Span | None = span
        while above is not None and above.span_id not in chain and above.span_id not in first:
            chain[above.span_id] = above
            above = known.get(above.parent_id) if above.parent_id is not None else None
        first.update(reversed(chain.items()))
    rank = {span.span_id: index for index, span in enumerate(spans)}
    readings = assign_roles(tuple(first.values()), late=True)
    return sorted(readings, key=lambda reading: rank[reading.span.span_id])


def _within(reading: RoleSpan) -> SpanContext:
    role, above = reading.role, reading.place
    root, agent, inside, top, worker = (
        above.root,
        above.agent,
        above.inside,
        above.top,
        above.worker,
    )
    if role == "model":
        outer = above.model or reading
        return SpanContext(root, agent, above.tool, outer, reading, inside, top, worker)
    if role == "tool":
        return SpanContext(root, agent, reading, None, None, inside or reading, top, worker)
    if role == "agent" and reading.name is not None:
        worker = reading.name
    return SpanContext(root, reading, None, None, None, inside, top or reading, worker)
