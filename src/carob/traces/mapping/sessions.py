"""Merge the traces of a conversation into one session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

import msgspec

from carob.schema import ModelCall, ToolCall, Trace, Turn
from carob.traces.mapping.delegation import is_delegated, join_delegated

TURN_NUMBER = "carob.turn.number"
"""The attribute of a trace that states which turn of its conversation it is."""


def merge_sessions(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Merge the traces of each conversation into one, its turns in order of time.

    Traces without a conversation stay as they are.
    """
    groups: dict[tuple[str, str], list[Trace]] = {}
    for trace in traces:
        # The kind is part of the key: a conversation may have the id of another trace.
        key = ("c", trace.conversation) if trace.conversation else ("t", trace.id)
        groups.setdefault(key, []).append(trace)
    for (kind, name), group in groups.items():
        # The id decides between equal starts, so that the order of the traces plays no part.
        group.sort(key=lambda trace: trace.id)
        yield merge_traces(name, group) if kind == "c" else merge_traces(group[0].id, group)


def merge_traces(session_id: str, group: list[Trace]) -> Trace:
    """Merge the traces of one session; those with equal starts keep their order."""
    # Another trace may have the tokens that one of them lacks: what is missing is counted again.
    in_order = sorted([_without_token_count(trace) for trace in group], key=_start)
    delegated = [trace for trace in in_order if is_delegated(trace)]
    ordered = _join_repeated([trace for trace in in_order if not is_delegated(trace)])
    if not ordered:
        ordered, delegated = delegated, []
    first, last = ordered[0], ordered[-1]
    sources: dict[str, str] = {}
    gaps: dict[str, str] = {}
    for trace in reversed(ordered):
        sources.update(trace.sources)
        gaps.update(trace.gaps)
    all_turns = [turn for trace in ordered for turn in trace.turns]
    turns = _join_resumed(_join_inner_runs(all_turns) if len(ordered) > 1 else all_turns)
    if len(turns) < len(all_turns) and all(_is_finished(turn) for turn in turns):
        gaps.pop("response", None)
    turns = join_delegated(turns, [turn for trace in delegated for turn in trace.turns])
    missing = _find_missing_tokens([call for turn in turns for call in turn.model_calls])
    if missing is not None:
        gaps["usage"] = missing
    return msgspec.structs.replace(
        first,
        id=session_id,
        turns=tuple(turns),
        case=next((trace.case for trace in ordered if trace.case), None),
        state=last.state if last.state is not None else first.state,
        sources=sources,
        gaps=gaps,
        spans=tuple(span for trace in ordered for span in trace.spans),
    )


def _without_token_count(trace: Trace) -> Trace:
    """The trace without the gap that follows from its own model calls."""
    stated = trace.gaps.get("usage")
    if stated is None or stated != _find_missing_tokens(trace.model_calls):
        return trace
    gaps = {field: reason for field, reason in trace.gaps.items() if field != "usage"}
    return msgspec.structs.replace(trace, gaps=gaps)


def _find_missing_tokens(calls: Sequence[ModelCall]) -> str | None:
    from carob.traces.mapping.tokens import find_missing_tokens  # late: it imports all of mapping

    return find_missing_tokens(calls)


# Logs of requests to a model repeat the conversation in each record, or the end of it: the turns
# that two records share must not count twice.
def _join_repeated(traces: list[Trace]) -> list[Trace]:
    joined: list[Trace] = []
    for trace in traces:
        count = _count_repeated(joined[-1], trace) if joined else 0
        if count:
            trace = _continue(joined.pop(), trace, count)
        joined.append(trace)
    return joined


_LOGS = frozenset(("chat", "log"))


def _count_repeated(earlier: Trace, later: Trace) -> int:
    """How many turns at the end of a record the next one begins with, before it goes on."""
    if not {earlier.convention, later.convention} <= _LOGS:
        return 0
    for count in range(min(len(earlier.turns), len(later.turns) - 1), 0, -1):
        pairs = zip(earlier.turns[-count:], later.turns, strict=False)
        if all(_is_repeated(before, after) for before, after in pairs):
            return count
    return 0


def _is_repeated(before: Turn, after: Turn) -> bool:
    if before.user != after.user or before.response not in (None, after.response):
        return False
    calls = [[(call.name, call.args) for call in turn.tool_calls or ()] for turn in (before, after)]
    return not (calls[0] and calls[1]) or calls[0] == calls[1]


def _continue(earlier: Trace, later: Trace, count: int) -> Trace:
    """Both records as one, with what only the earlier one has of a turn, such as its model call."""
    shared = [
        msgspec.structs.replace(
            after,
            tool_calls=after.tool_calls or before.tool_calls,
            tool_results=after.tool_results or before.tool_results,
            model_calls=after.model_calls if _has_calls(after) else _join_calls(before, after),
            start=before.start if after.start is None else after.start,
            end=before.end if after.end is None else after.end,
        )
        for before, after in zip(earlier.turns[-count:], later.turns, strict=False)
    ]
    turns = (*earlier.turns[:-count], *shared, *later.turns[count:])
    return msgspec.structs.replace(later, turns=turns)


def _start(trace: Trace) -> int:
    return next((turn.start for turn in trace.turns if turn.start is not None), 0)


def _is_finished(turn: Turn) -> bool:
    return turn.response is not None or turn.error is not None


# Strands 0.2 gives an agent that a tool runs a trace of its own. It is no turn: the user neither
# asked nor was answered while the tool ran.
def _join_inner_runs(turns: list[Turn]) -> list[Turn]:
    joined: list[Turn] = []
    for turn in turns:  # in order of time, so that the outer run comes first
        outer = next((index for index, before in enumerate(joined) if _runs_in(before, turn)), None)
        if outer is None:
            joined.append(turn)
        else:
            joined[outer] = _join_inner_run(joined[outer], turn)
    return joined


def _runs_in(outer: Turn, inner: Turn) -> bool:
    return inner.start is not None and any(_lasts(call, inner) for call in outer.tool_calls or ())


def _lasts(call: ToolCall, turn: Turn) -> bool:
    """Whether a turn took place while a tool was running."""
    if call.start is None or call.end is None or turn.start is None or turn.end is None:
        return False
    return call.start < turn.start and turn.end < call.end


def _join_inner_run(outer: Turn, inner: Turn) -> Turn:
    calls = sorted((*(outer.tool_calls or ()), *(inner.tool_calls or ())), key=_start_of)
    models = sorted((*outer.model_calls, *inner.model_calls), key=_start_of)
    ids = {call.id: index for index, call in enumerate(calls)}
    results = sorted(
        (*outer.tool_results, *inner.tool_results), key=lambda result: ids.get(result.id, 0)
    )
    agents = [call.agent for call in models if call.agent] or [*outer.agents, *inner.agents]
    return msgspec.structs.replace(
        outer,
        tool_calls=tuple(calls) if inner.tool_calls is not None else None,
        tool_results=tuple(results),
        agents=tuple(name for name, _ in groupby(agents)),
        model_calls=tuple(models),
    )


def _start_of(call: ToolCall | ModelCall) -> int:
    return call.start or 0


# An agent that asks a person to approve a tool call stops there, and what happens after the
# approval is a run of its own. It is no new turn: the user wrote nothing, and was not answered yet.
def _join_resumed(turns: list[Turn]) -> list[Turn]:
    joined: list[Turn] = []
    for turn in turns:
        if joined and _resumes(joined[-1], turn):
            joined[-1] = _join(joined[-1], turn)
        else:
            joined.append(turn)
    return joined


def _resumes(before: Turn, turn: Turn) -> bool:
    """Whether a turn goes on with a call that the one before left without a result."""
    if _is_finished(before) or turn.user not in (None, before.user):
        return False
    answered = {result.id for result in before.tool_results}
    waiting = {call.id for call in before.tool_calls or ()} - answered - {None}
    return any(call.id in waiting for call in turn.tool_calls or ())


def _join(before: Turn, turn: Turn) -> Turn:
    later = {call.id: call for call in turn.tool_calls or () if call.id is not None}
    calls = [later.get(call.id or "", call) for call in before.tool_calls or ()]
    ids = {call.id for call in calls}
    calls += [call for call in turn.tool_calls or () if call.id is None or call.id not in ids]
    return msgspec.structs.replace(
        turn,
        user=before.user,
        tool_calls=tuple(calls),
        tool_results=(*before.tool_results, *turn.tool_results),
        messages=(*before.messages, *turn.messages),
        agents=tuple(name for name, _ in groupby((*before.agents, *turn.agents))),
        model_calls=_join_calls(before, turn),
        start=before.start,
    )


def _has_calls(turn: Turn) -> bool:
    return any(call != _UNKNOWN for call in turn.model_calls)


def _join_calls(before: Turn, after: Turn) -> tuple[ModelCall, ...]:
    """The model calls of a turn and of its continuation, which may know the first ones from their
    answers only."""
    unknown = len(list(takewhile(lambda call: call == _UNKNOWN, after.model_calls)))
    return (*before.model_calls, *after.model_calls[min(unknown, len(before.model_calls)) :])


_UNKNOWN = ModelCall()
