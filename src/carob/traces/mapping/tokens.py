"""Who counted a token: one rule for all conventions.

Several spans may count the same tokens: the client of the model, the library around it, the agent
around both. Within the tree of spans that count, the total of a span is the larger of its own
count and the sum of the totals below it. So it does not matter how often a recorder repeats a
count or how deep it nests its spans, and a span that counts what nobody below it counted is not
lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from carob.schema import ModelCall, Span, Usage
from carob.traces.mapping.roles import RoleSpan, covers

NO_USAGE = Usage()
_COUNTED = Usage(input_tokens=0, output_tokens=0)
_MAX_COUNTERS = 64
"""Spans that started before another and are compared with it."""


class TokenCount:
    """The tokens of one turn, by the model call that used them."""

    def __init__(self, calls: list[RoleSpan], counters: list[RoleSpan]) -> None:
        """`calls` are the spans that stand for one call each, `counters` all others that may
        count tokens, outer ones first."""
        self.usage = {id(call): call.usage() for call in calls}
        self.without_call: list[tuple[RoleSpan, Usage]] = []
        """Counts of spans to which no model call belongs."""
        counters = [span for span in counters if span.usage() != NO_USAGE]
        if counters:
            # Of spans that start together, the longest one is around the others.
            counters.sort(key=lambda span: (span.span.start or 0, -(span.span.end or 0)))
            self._count_tree(calls, counters)

    def _count_tree(self, calls: list[RoleSpan], counters: list[RoleSpan]) -> None:
        below: dict[int, list[RoleSpan]] = {}
        sums: dict[int, Usage] = {}
        for call in calls:
            usage = _with_total(self.usage[id(call)])
            for span in _counters_above(call, counters):
                below.setdefault(id(span), []).append(call)
                sums[id(span)] = Usage.total((sums.get(id(span), NO_USAGE), usage))
        complete = {
            id(span) for span in counters if _agrees(span.usage(), sums.get(id(span), NO_USAGE))
        }
        # Inner spans come after the spans around them, so this goes from the leaves to the root.
        for span in reversed(counters):
            counted, own = sums.get(id(span), NO_USAGE), span.usage()
            if counted != NO_USAGE and span.convention.counts_all_runs(span.span):
                continue
            # OpenAI Agents counts the tokens of agents that run at once for each of them.
            if complete and any(id(outer) in complete for outer in _counters_above(span, counters)):
                continue
            is_same_call = span.role == "model" and len(below.get(id(span), ())) == 1
            rest = _subtract(own, counted, only_missing=is_same_call)
            if rest != NO_USAGE:
                self._assign(span, rest, below.get(id(span), []))
                rest = rest if own.total_tokens is not None else _with_total(rest)
                for outer in _counters_above(span, counters):
                    sums[id(outer)] = Usage.total((sums.get(id(outer), NO_USAGE), rest))

    def _assign(self, span: RoleSpan, rest: Usage, calls: list[RoleSpan]) -> None:
        """Give what only an outer span counted to a call of it that counts nothing itself, else
        to the last one."""
        if not calls:
            self.without_call.append((span, rest))
            return
        silent = (call for call in calls if self.usage[id(call)] == NO_USAGE)
        call = next(silent, calls[-1])
        known = self.usage[id(call)]
        if rest.total_tokens is not None:
            known = _with_total(known)
        self.usage[id(call)] = Usage.total((known, rest))
        if rest.input_tokens and rest.output_tokens:
            self._mark_counted(calls)

    def _mark_counted(self, calls: list[RoleSpan]) -> None:
        """Note that the tokens of the other calls are counted with those of one of them: they do
        not lack a count, so that the total is known."""
        for call in calls:
            if self.usage[id(call)] == NO_USAGE:
                self.usage[id(call)] = _COUNTED


def _counters_above(span: RoleSpan, counters: list[RoleSpan]) -> list[RoleSpan]:
    """The spans around a span that may count its tokens, the nearest first."""
    above: list[RoleSpan] = []
    outer = span.context.counter or _counter_beside(span, counters)
    passed: list[RoleSpan] = []
    while outer is not None and outer not in passed:
        passed.append(outer)
        if not _leaves_out(outer, span):
            above.append(outer)
        outer = outer.context.counter or _counter_beside(outer, counters)
    return above


def _leaves_out(counter: RoleSpan, span: RoleSpan) -> bool:
    """Whether a span works for another agent than the only one whose tokens are counted."""
    is_other = counter.context.agent is not span.context.agent
    return is_other and counter.convention.counts_own_calls(counter.span)


def _counter_beside(span: RoleSpan, counters: list[RoleSpan]) -> RoleSpan | None:
    """The span during which another one ran, although it is not its parent: some frameworks record
    a model call beside its agent, and the span between two others may be missing."""
    around = span.context.agent
    is_alone = span.role == "model" and (around is None or around.role != "agent")
    # Counters are in order of time. Comparing a span with all of them is quadratic in long traces.
    end = bisect_right(counters, span.span.start or 0, key=lambda outer: outer.span.start or 0)
    for outer in reversed(counters[max(0, end - _MAX_COUNTERS) : end]):
        if outer is span or not _contains(outer.span, span.span):
            continue
        if outer.context.root is not span.context.root or (is_alone and outer.role == "agent"):
            return outer
    return None


def _contains(outer: Span, inner: Span) -> bool:
    """Whether a span ran only while another one did. Of two that ran equally long, the one that
    comes first by its id contains the other, so that they do not contain each other."""
    if not covers(outer, inner.start) or not covers(outer, inner.end):
        return False
    if (outer.start, outer.end) == (inner.start, inner.end):
        return outer.span_id < inner.span_id
    return True


def _with_total(usage: Usage) -> Usage:
    if usage.total_tokens is not None:
        return usage
    return msgspec.structs.replace(usage, total_tokens=_sum_of(usage))


def _subtract(own: Usage, counted: Usage, *, only_missing: bool) -> Usage:
    """Return what a span counts beyond the spans below it.

    With `only_missing`, these record the same call: kinds that both count differ only where the
    outer recorder miscounts, as OpenLLMetry does with Anthropic's streams.
    """
    if counted == NO_USAGE or own == NO_USAGE:
        return own
    rest: dict[str, int] = {}
    for field in Usage.__struct_fields__:
        count: int | None = getattr(own, field)
        below: int | None = getattr(counted, field)
        if below is not None and only_missing:
            continue
        if count is not None and count > (below or 0):
            rest[field] = count - (below or 0)
    return Usage(**rest)


def _agrees(own: Usage, counted: Usage) -> bool:
    """Whether a span counts just what the model calls below it do, so that none of them lacks a
    count."""
    counts = own.input_tokens, own.output_tokens
    return None not in counts and counts == (counted.input_tokens, counted.output_tokens)


def _sum_of(usage: Usage) -> int | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def find_missing_tokens(calls: Sequence[ModelCall]) -> str | None:
    """Return why the sum over model calls is not the whole: some of them count nothing.

    A call that failed used none. If no call counts a kind of token, its sum is not recorded.
    """
    usages = [call.usage for call in calls]
    partial = [
        usage
        for call, usage in zip(calls, usages, strict=True)
        if call.error is None and (usage.input_tokens is None or usage.output_tokens is None)
    ]
    if not partial:
        return None
    has_input = any(usage.input_tokens is not None for usage in usages)
    has_output = any(usage.output_tokens is not None for usage in usages)
    lacking = sum(
        (has_input and usage.input_tokens is None) or (has_output and usage.output_tokens is None)
        for usage in partial
    )
    return (
        f"the tokens of {lacking} of {len(calls)} model calls were not recorded"
        if lacking
        else None
    )
