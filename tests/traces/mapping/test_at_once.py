"""Two runs of one agent at once, within one span, are read as each of them alone."""

from __future__ import annotations

import msgspec

from carob.schema import Span, Turn, Usage
from carob.traces.mapping.traces import to_traces
from tests.traces.recorded_spans import RecordedTrace, order, recorded_traces

ROOT = "f" * 16
HALF_A_STEP = 500_000
UNCLEAR = (
    "-native-",
    "llama-index",
    "langchain-rag",
    "decorated-sdk",
    "google-adk-openinference",
    "-both-",
)
"""Recordings in which the steps around the agent received the question, or two recorders write
the same run: nothing tells two of these runs from a team of agents. Native traces are never
nested."""


def is_clear(recorded: RecordedTrace) -> bool:
    if not recorded.file.endswith((".jsonl", ".jsonl.gz")) or "-one-call." not in recorded.file:
        return False
    turns = recorded.trace.turns
    return (
        len(turns) == 1
        and bool(turns[0].agents)
        and not any(part in recorded.file for part in UNCLEAR)
    )


def place(recorded: RecordedTrace, suffix: str, shift: int) -> list[Span]:
    ids = {span.span_id for span in recorded.spans}
    return [
        msgspec.structs.replace(
            span,
            span_id=span.span_id + suffix,
            parent_id=ROOT if span.parent_id not in ids else f"{span.parent_id}{suffix}",
            start=(span.start or 0) + shift,
            end=(span.end or 0) + shift,
        )
        for span in recorded.spans
    ]


def describe(turn: Turn) -> tuple[object, ...]:
    calls = [(call.name, call.args) for call in turn.tool_calls or ()]
    results = [(result.name, result.result, result.error) for result in turn.tool_results]
    usage = Usage.total(call.usage for call in turn.model_calls)
    return turn.user, turn.response, turn.error, calls, results, turn.agents, usage


def read_at_once(recorded: RecordedTrace) -> list[tuple[object, ...]]:
    spans = place(recorded, "", 0) + place(recorded, "b", HALF_A_STEP)
    start, end = (pick(span.start or 0 for span in spans) for pick in (min, max))
    root = Span(recorded.trace.id, ROOT, None, "evaluate", "internal", start - 1, end + HALF_A_STEP)
    return [describe(turn) for trace in to_traces(order([root, *spans])) for turn in trace.turns]


def test_runs_at_once_are_read_like_one():
    clear = [recorded for recorded in recorded_traces() if is_clear(recorded)]
    wrong = [
        recorded.file
        for recorded in clear
        if read_at_once(recorded) != [describe(recorded.trace.turns[0])] * 2
    ]
    assert len(clear) > 40
    assert wrong == []
