"""The spans of a trace with their roles, and who is working inside whom."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.schema import Span
from karat.traces.conventions.convention import Convention, SpanRole
from karat.traces.conventions.detect import explain


class Reading(msgspec.Struct, eq=False, gc=False):
    """A span that plays a part, and what is around it."""

    span: Span
    convention: Convention
    role: SpanRole
    place: Place
    name: str | None = None
    """The name of an agent or a workflow."""
    leaf: bool = True
    """Whether no other model call is recorded within."""


class Place(msgspec.Struct, eq=False, gc=False):
    """What is around a span, the same for all children of one parent."""

    root: Span
    """The outermost span around it, whatever that is."""
    agent: Reading | None = None
    """The agent or workflow that it works for."""
    tool: Reading | None = None
    """The tool that it runs in, with no agent between."""
    model: Reading | None = None
    """The outermost model call that it is a part of, with no agent or tool between."""
    nearest: Reading | None = None
    """The innermost model call that it is a part of."""
    inside: Reading | None = None
    """The outermost tool that it runs in, whatever is between."""
    top: Reading | None = None
    """The outermost agent or workflow around it."""
    worker: str | None = None
    """The name of the nearest agent around it that has one."""
    skip: bool = False


def read(spans: Sequence[Span]) -> list[Reading]:
    """The spans that play a part, in the order of the spans."""
    places: dict[str | None, Place | Reading] = {}
    known: dict[str, Span] = {}
    readings: list[Reading] = []
    late = False
    for span in spans:
        above = places.get(span.parent_id)
        if span.span_id in places:  # an ancestor of a span that came before it
            continue
        if above is not None:
            # Most spans have no children: what is around those is made when the first one comes.
            if type(above) is Reading:
                above = places[span.parent_id] = _within(above)
            places[span.span_id] = _enter(span, above, readings)
        elif span.parent_id is None:
            places[span.span_id] = _enter(span, Place(span), readings)
        else:
            known = known or {span.span_id: span for span in spans}
            late |= _place(span, known, places, readings)
    if late:
        rank = {span.span_id: index for index, span in enumerate(spans)}
        readings.sort(key=lambda reading: rank[reading.span.span_id])
    return readings


def _place(
    span: Span,
    known: dict[str, Span],
    places: dict[str | None, Place | Reading],
    readings: list[Reading],
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
        above = places.get(one.parent_id)
        around = _within(above) if isinstance(above, Reading) else above
        places[one.span_id] = _enter(one, around or Place(one), readings)
    return len(chain) > 1


def _enter(span: Span, above: Place, readings: list[Reading]) -> Place | Reading:
    """What is around the children of a span, or the reading that `_within` makes it of."""
    explained = None if above.skip else explain(span)
    if explained is None:
        return above
    span, convention, role = explained
    if role == "skip":
        return Place(above.root, skip=True)
    reading = Reading(span, convention, role, above)
    readings.append(reading)
    if role == "model":
        if above.nearest is not None:
            above.nearest.leaf = False
    elif role == "agent" or role == "workflow":
        reading.name = convention.agent(span)
        if reading.name is None:  # a run around agents, such as `Agent workflow`
            reading.role = "workflow"
    elif role != "tool":
        return above
    return reading


def _within(reading: Reading) -> Place:
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
        return Place(root, agent, above.tool, outer, reading, inside, top, worker)
    if role == "tool":
        return Place(root, agent, reading, None, None, inside or reading, top, worker)
    if role == "agent" and reading.name is not None:
        worker = reading.name
    return Place(root, reading, None, None, None, inside, top or reading, worker)
