"""Traces of the same conversation, made one session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from carob.schema import Trace


def sessions(traces: Iterable[Trace]) -> Iterator[Trace]:
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
        turns=tuple(turn for trace in ordered for turn in trace.turns),
        case=next((trace.case for trace in ordered if trace.case), None),
        state=last.state if last.state is not None else first.state,
        sources=sources,
        spans=tuple(span for trace in ordered for span in trace.spans),
    )


def _start(trace: Trace) -> int:
    return next((turn.start for turn in trace.turns if turn.start is not None), 0)
