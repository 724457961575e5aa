"""The spans of a trace with their roles, and who is working inside whom."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.schema import Span
from karat.traces.conventions.convention import Convention, SpanRole
from karat.traces.conventions.detect import explain


class Reading(msgspec.Struct, eq=False, gc=False):
    """A span that plays a part, and the nearest parts around it."""

    span: Span
    convention: Convention
    role: SpanRole
    root: Span
    """The outermost span around it, whatever that is."""
    agent: Reading | None = None
    """The agent or workflow that it works for."""
    tool: Reading | None = None
    """The tool that it runs in, with no agent between."""
    model: Reading | None = None
    """The outermost model call that it is a part of, with no agent or tool between."""
    inside: Reading | None = None
    """The outermost tool that it runs in, whatever is between."""
    top: Reading | None = None
    """The outermost agent or workflow around it."""
    name: str | None = None
    """The name of an agent or a workflow."""
    leaf: bool = True
    """Whether no other model call is recorded within."""


class Place(msgspec.Struct, eq=False, gc=False):
    """What surrounds the children of a span."""

    root: Span
    agent: Reading | None = None
    tool: Reading | None = None
    model: Reading | None = None
    nearest: Reading | None = None
    inside: Reading | None = None
    top: Reading | None = None
    skip: bool = False


def read(spans: Sequence[Span]) -> list[Reading]:
    """The spans that play a part, in the order of the spans."""
    known = {span.span_id: span for span in spans}
    places: dict[str, Place] = {}
    readings: list[Reading] = []
    late = False
    for span in spans:
        above = places.get(span.parent_id) if span.parent_id is not None else None
        if above is not None and span.span_id not in places:
            places[span.span_id] = _enter(span, above, readings)
        elif span.span_id not in places:
            late |= _place(span, known, places, readings)
    if late:
        rank = {span.span_id: index for index, span in enumerate(spans)}
        readings.sort(key=lambda reading: rank[reading.span.span_id])
    return readings


def _place(
    span: Span, known: dict[str, Span], places: dict[str, Place], readings: list[Reading]
) -> bool:
    """Places a span and, before it, its ancestors that come later; whether there were any."""
    parent = span.parent_id
    chain = [span]
    seen = {span.span_id}
    while parent is not None and parent in known and parent not in places and parent not in seen:
        seen.add(parent)
        chain.append(known[parent])
        parent = known[parent].parent_id
    for one in reversed(chain):
        above = places.get(one.parent_id) if one.parent_id is not None else None
        places[one.span_id] = _enter(one, above or Place(one), readings)
    return len(chain) > 1


def _enter(span: Span, above: Place, readings: list[Reading]) -> Place:
    explained = None if above.skip else explain(span)
    if explained is None:
        return above
    span, convention, role = explained
    root, agent, tool, inside, top = above.root, above.agent, above.tool, above.inside, above.top
    if role == "skip":
        return Place(root, skip=True)
    reading = Reading(span, convention, role, root, agent, tool, above.model, inside, top)
    readings.append(reading)
    if role == "model":
        if above.nearest is not None:
            above.nearest.leaf = False
        return Place(root, agent, tool, above.model or reading, reading, inside, top)
    if role == "tool":
        return Place(root, agent, reading, None, None, inside or reading, top)
    if role == "agent" or role == "workflow":
        reading.name = convention.agent(span)
        if reading.name is None:  # a run around agents, such as `Agent workflow`
            reading.role = "workflow"
        return Place(root, reading, None, None, None, inside, top or reading)
    return above
