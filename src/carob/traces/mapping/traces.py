"""The spans of one trace id, made a `Trace`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from carob.schema import Json, Span, Trace
from carob.traces.conventions.azure import AzureAgents, gathered
from carob.traces.mapping.convention import Convention, first_text
from carob.traces.mapping.roles import RoleSpan, assign_roles
from carob.traces.mapping.splitting import split_turns
from carob.traces.mapping.turn_spans import group_by_role
from carob.traces.mapping.turns import build_turn

_CASES = ("carob.case.id", "agentevals.eval.case.id")
_WORK = frozenset(("agent", "workflow", "model", "tool"))
_LOOKED_AT = 16
"""Spans of a trace that are asked for its conversation."""


def to_traces(
    spans: Sequence[Span], *, source: str | None = None, keep_spans: bool = False
) -> list[Trace]:
    """What the agent did, by spans of one trace id in the order of time; none if it did nothing."""
    readings = assign_roles(spans)
    if not any(reading.role in _WORK for reading in readings):
        return []
    convention = _convention(readings)
    if convention.name == AzureAgents.name:
        readings = assign_roles(gathered(spans))
    works = [group_by_role(part) for part in split_turns(readings)]
    turns = [build_turn(work) for work in works]
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


def _convention(readings: list[RoleSpan]) -> Convention:
    """The one that explains the owner of the first turn."""
    for reading in readings:
        if reading.role != "chain":
            return reading.convention
    return readings[0].convention


def _conversation(root: Span, readings: list[RoleSpan]) -> str | None:
    for reading in readings[:_LOOKED_AT]:
        if found := reading.convention.conversation(reading.span):
            return found
    found = first_text(root.attributes, ("session.id", "gen_ai.conversation.id"))
    return found or first_text(root.resource, ("carob.conversation.id",))


def _state(root: Span) -> dict[str, Json] | None:
    """The state that the file tells beside the spans; spans themselves do not."""
    state = root.resource.get("carob.state")
    return state if isinstance(state, dict) else None


def _case(root: Span, readings: list[RoleSpan]) -> str | None:
    for held in (root.attributes, root.resource, readings[0].span.attributes):
        if not held.keys().isdisjoint(_CASES) and (found := first_text(held, _CASES)):
            return found
    return None


def merge_sessions(traces: Iterable[Trace]) -> Iterator[Trace]:
    """One trace per conversation, its turns in the order of time; others pass as they are."""
    grouped: dict[tuple[str, str], list[Trace]] = {}
    for trace in traces:
        key = ("c", trace.conversation) if trace.conversation else ("t", trace.id)
        grouped.setdefault(key, []).append(trace)
    for (kind, name), group in grouped.items():
        yield _session(name, group) if kind == "c" else _session(group[0].id, group)


def _session(name: str, group: list[Trace]) -> Trace:
    ordered = sorted(group, key=lambda trace: (_start(trace), trace.id))
    first, last = ordered[0], ordered[-1]
    sources: dict[str, str] = {}
    for trace in reversed(ordered):
        sources.update(trace.sources)
    return msgspec.structs.replace(
        first,
        id=name,
        turns=tuple(build_turn for trace in ordered for build_turn in trace.turns),
        case=next((trace.case for trace in ordered if trace.case), None),
        state=last.state if last.state is not None else first.state,
        sources=sources,
        spans=tuple(span for trace in ordered for span in trace.spans),
    )


def _start(trace: Trace) -> int:
    return next((build_turn.start for build_turn in trace.turns if build_turn.start is not None), 0)
