"""The spans of a trace as people read them: under the turn that they belong to, as a tree, with a
mark on each span that a score points at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from carob.analysis.causes import describe_cause, find_causes
from carob.api.views.case import CaseView, TurnView
from carob.schema import CaseResult, CaseScore, ToolCall, Turn
from carob.schema.causes import Cause
from carob.schema.run import Run
from carob.schema.trace import Span

_MAX_DEPTH = 50
_MAX_CALLS = 100
"""Calls of one cause that are looked up among all spans."""
Marks: TypeAlias = Mapping[str, tuple[str, ...]]
"""By span id: why the scores point at the span."""


class SpanRow(NamedTuple):
    """A span at its depth in the tree, and why scores point at it."""

    span: Span
    depth: int
    marks: tuple[str, ...] = ()


class SpanGroup(NamedTuple):
    """The spans of one turn, parents before children."""

    turn: int | None
    """From 1; `None` for spans around several turns, and for those that no turn explains."""
    user: str | None
    rows: tuple[SpanRow, ...]


def group_spans(
    spans: Sequence[Span], turns: Sequence[Turn] = (), marks: Marks | None = None
) -> tuple[SpanGroup, ...]:
    """Group spans by the turn during which they began. A span that lasts into the next turn, such
    as the one of a whole session, belongs to none. Every span is in exactly one group."""
    starts = [turn.start for turn in turns]
    groups: dict[int | None, list[Span]] = {None: []}
    for span in spans:
        groups.setdefault(_turn_of(span, starts), []).append(span)
    known = marks or {}
    return tuple(
        SpanGroup(
            None if place is None else place + 1,
            None if place is None else turns[place].user,
            tuple(
                SpanRow(span, depth, known.get(span.span_id, ()))
                for span, depth in _tree(groups[place])
            ),
        )
        for place in (None, *range(len(turns)))
        if groups.get(place)
    )


def _turn_of(span: Span, starts: Sequence[int | None]) -> int | None:
    if span.start is None:
        return None
    turn: int | None = None
    for place, start in enumerate(starts):
        if start is None:
            continue
        if start <= span.start:
            turn = place
        elif turn is not None and span.end is not None and span.end > start:
            return None
    return turn


def _tree(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """Yield spans with their depths, parents before children, siblings by start. Parents that are
    not among the spans, and circles of parents, cost no span."""
    ids = {span.span_id for span in spans}
    children: dict[str | None, list[Span]] = {}
    for span in sorted(spans, key=lambda span: (span.start or 0, -(span.end or 0))):
        parent = span.parent_id if span.parent_id in ids else None
        children.setdefault(None if parent == span.span_id else parent, []).append(span)
    seen: set[int] = set()
    for first in (*children.get(None, ()), *spans):  # the second part reaches circles
        todo = [(first, 0)]
        while todo:
            span, depth = todo.pop()
            if id(span) in seen:
                continue
            seen.add(id(span))
            yield span, depth
            below = children.get(span.span_id, ())
            todo += [(child, min(depth + 1, _MAX_DEPTH)) for child in reversed(below)]


def mark_spans(view: CaseView) -> dict[str, tuple[str, ...]]:
    """Say which spans the scores that did not pass point at: the call of a tool that was wrong, or
    the model call that wrote the answer of a turn whose score is too low."""
    result = view.attempts[view.attempt - 1].result
    spans = view.trace.spans if view.trace else ()
    marks: dict[str, dict[str, None]] = {}
    for score in result.scores:
        if score.status != "failed":
            continue
        for span_id, why in _find_marked_spans(score, result, view, spans):
            marks.setdefault(span_id, {})[why] = None
    return {span_id: tuple(reasons) for span_id, reasons in marks.items()}


def _find_marked_spans(
    score: CaseScore, result: CaseResult, view: CaseView, spans: Sequence[Span]
) -> Iterator[tuple[str, str]]:
    only = CaseResult(result.case, result.trace, result.status, (score,))
    causes = [cause for cause in find_causes(only) if cause.kind != "low score"]
    turns = _failing_turns(score, view)
    if not causes:
        for turn in turns:
            for span in _answer_spans(turn.actual, spans):
                yield span.span_id, f"{score.metric}: the answer of this turn scored too low"
    for cause in causes:
        for call in islice(_wrong_calls(cause, turns or view.turns), _MAX_CALLS):
            for span in _call_spans(call, spans):
                yield span.span_id, f"{score.metric}: {describe_cause(cause)} {cause.subject}"


def _failing_turns(score: CaseScore, view: CaseView) -> list[TurnView]:
    if len(view.turns) == 1:
        return list(view.turns)
    better, need = _better(view.run, score.metric), score.threshold
    if need is None:
        return []
    pairs = zip(score.turns, view.turns, strict=False)
    return [
        turn
        for value, turn in pairs
        if value is not None and (value < need if better == "higher" else value > need)
    ]


def _better(run: Run, metric: str) -> str:
    return next((spec.better for spec in run.metrics if spec.name == metric), "higher")


def _wrong_calls(cause: Cause, turns: Iterable[TurnView]) -> Iterator[ToolCall]:
    """The calls that the agent made and should not have made so. A call that is missing has no
    span; the conversation shows it."""
    if cause.kind not in ("unexpected call", "wrong argument"):
        return
    for turn in turns:
        wrong = [step.actual for step in turn.script or () if step.kind != "keep" and step.actual]
        calls = wrong or (turn.actual.tool_calls if turn.actual else None) or ()
        names = (cause.subject, cause.subject.rpartition(".")[0])
        yield from (call for call in calls if call.name in names)


def _call_spans(call: ToolCall, spans: Sequence[Span]) -> Iterator[Span]:
    """The spans of a call: those with its id, else those of its time and name."""
    by_id = [
        span
        for span in spans
        if call.id is not None
        and any(
            value == call.id and ("tool" in key or "call" in key)
            for key, value in span.attributes.items()
        )
        and _names_tool(span, call.name)
    ]
    yield from by_id or (
        span
        for span in spans
        if call.start is not None
        and (span.start, span.end) == (call.start, call.end)
        and _names_tool(span, call.name)
    )


def _names_tool(span: Span, name: str) -> bool:
    return name in span.name or name in span.attributes.values()


def _answer_spans(turn: Turn | None, spans: Sequence[Span]) -> Iterator[Span]:
    """The span of the last model call of a turn, which wrote the answer."""
    last = max(
        (call for call in (turn.model_calls if turn else ()) if call.end is not None),
        key=lambda call: call.end or 0,
        default=None,
    )
    if last is not None:
        matching = [span for span in spans if (span.start, span.end) == (last.start, last.end)]
        yield from matching[-1:]
