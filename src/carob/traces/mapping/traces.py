"""The spans of one trace id, made a `Trace`."""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Json, Span, Trace
from carob.traces.conventions.azure import AzureAgents, gathered
from carob.traces.conventions.convention import Convention, first_text
from carob.traces.mapping.roles import Reading, read
from carob.traces.mapping.splitting import split
from carob.traces.mapping.turns import turn
from carob.traces.mapping.work import sort

_CASES = ("carob.case.id", "agentevals.eval.case.id")
_WORK = frozenset(("agent", "workflow", "model", "tool"))
_LOOKED_AT = 16
"""Spans of a trace that are asked for its conversation."""


def to_traces(
    spans: Sequence[Span], *, source: str | None = None, keep_spans: bool = False
) -> list[Trace]:
    """What the agent did, by spans of one trace id in the order of time; none if it did nothing."""
    readings = read(spans)
    if not any(reading.role in _WORK for reading in readings):
        return []
    convention = _convention(readings)
    if convention.name == AzureAgents.name:
        readings = read(gathered(spans))
    works = [sort(part) for part in split(readings)]
    turns = [turn(work) for work in works]
    sources = works[0].sources
    for work in works[1:]:
        sources = work.sources | sources
    root = readings[0].place.root
    return [
        Trace(
            id=root.trace_id,
            turns=tuple(turns),
            source=source,
            convention=convention.name,
            mapper=convention.mapper,
            conversation=_conversation(root, readings),
            case=_case(root, readings),
            state=_state(root),
            sources=sources,
            spans=tuple(spans) if keep_spans else (),
        )
    ]


def _convention(readings: list[Reading]) -> Convention:
    """The one that explains the owner of the first turn."""
    for reading in readings:
        if reading.role != "chain":
            return reading.convention
    return readings[0].convention


def _conversation(root: Span, readings: list[Reading]) -> str | None:
    for reading in readings[:_LOOKED_AT]:
        if found := reading.convention.conversation(reading.span):
            return found
    found = first_text(root.attributes, ("session.id", "gen_ai.conversation.id"))
    return found or first_text(root.resource, ("carob.conversation.id",))


def _state(root: Span) -> dict[str, Json] | None:
    """The state that the file tells beside the spans; spans themselves do not."""
    state = root.resource.get("carob.state")
    return state if isinstance(state, dict) else None


def _case(root: Span, readings: list[Reading]) -> str | None:
    for held in (root.attributes, root.resource, readings[0].span.attributes):
        if not held.keys().isdisjoint(_CASES) and (found := first_text(held, _CASES)):
            return found
    return None
