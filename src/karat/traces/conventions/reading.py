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


class Group(msgspec.Struct, eq=False, gc=False):
    """All that happened under one root."""

    root: Span
    readings: list[Reading]


class Place(msgspec.Struct, eq=False, gc=False):
    """What surrounds the children of a span."""

    group: Group
    agent: Reading | None = None
    tool: Reading | None = None
    model: Reading | None = None
    nearest: Reading | None = None
    inside: Reading | None = None
    top: Reading | None = None
    skip: bool = False


def read(spans: Sequence[Span]) -> list[Group]:
    """The roles of all spans, by root, in the order of the spans."""
    known = {span.span_id: span for span in spans}
    places: dict[str, Place] = {}
    orphans: dict[str, Group] = {}
    groups: list[Group] = []
    late = False
    for span in spans:
        if span.span_id not in places:
            late |= _place(span, known, places, orphans, groups)
    if late:
        rank = {span.span_id: index for index, span in enumerate(spans)}
        for group in groups:
            group.readings.sort(key=lambda reading: rank[reading.span.span_id])
    return groups


def _place(
    span: Span,
    known: dict[str, Span],
    places: dict[str, Place],
    orphans: dict[str, Group],
    groups: list[Group],
) -> bool:
    """Places a span and, before it, its ancestors that come later; whether there were any."""
    parent = span.parent_id
    if parent in places:
        places[span.span_id] = _enter(span, places[parent])
        return False
    chain = [span]
    seen = {span.span_id}
    while parent is not None and parent in known and parent not in places and parent not in seen:
        seen.add(parent)
        chain.append(known[parent])
        parent = known[parent].parent_id
    for one in reversed(chain):
        above = places.get(one.parent_id) if one.parent_id is not None else None
        if above is None:
            above = Place(_group(one, orphans, groups))
        places[one.span_id] = _enter(one, above)
    return len(chain) > 1


def _group(root: Span, orphans: dict[str, Group], groups: list[Group]) -> Group:
    """A new group; spans that lost the same parent stay together."""
    if root.parent_id is not None and root.parent_id in orphans:
        return orphans[root.parent_id]
    group = Group(root, [])
    groups.append(group)
    if root.parent_id is not None:
        orphans[root.parent_id] = group
    return group


def _enter(span: Span, above: Place) -> Place:
    explained = None if above.skip else explain(span)
    if explained is None:
        return above
    span, convention, role = explained
    group = above.group
    if role == "skip":
        return Place(group, skip=True)
    reading = Reading(span, convention, role, above.agent, above.tool, above.model, above.inside)
    reading.top = above.top
    group.readings.append(reading)
    if role == "model":
        if above.nearest is not None:
            above.nearest.leaf = False
        outer = above.model or reading
        return Place(group, above.agent, above.tool, outer, reading, above.inside, above.top)
    if role == "tool":
        return Place(group, above.agent, reading, None, None, above.inside or reading, above.top)
    if role == "agent" or role == "workflow":
        reading.name = convention.agent(span)
        return Place(group, reading, None, None, None, above.inside, above.top or reading)
    return above
