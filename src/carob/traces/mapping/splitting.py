"""Where one turn ends and the next begins within one trace id."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from carob.traces.mapping.roles import RoleSpan
from carob.traces.messages.message import last_answer

_OWNERS = ("agent", "workflow")


def split_turns(readings: list[RoleSpan]) -> Iterator[list[RoleSpan]]:
    """The turns of a trace: mostly one.

    A new turn begins where an agent starts after the last one had ended and is asked something
    else, with nothing above the two that would make them steps of one run. Without any agent, or
    within a workflow, it begins where a model call quotes the last answer and goes on from there.
    """
    tops = [
        reading
        for reading in readings
        if reading.role in _OWNERS and reading.place.top is None and reading.place.inside is None
    ]
    if len(tops) > 1:
        starts = [] if _is_one_run(tops, readings[0]) else _agent_starts(tops)
    elif tops:
        starts = _run_starts(tops[0], readings)
        if starts:  # what is around all turns is part of none
            readings = [reading for reading in readings if reading is not tops[0]]
    else:
        starts = _model_starts(readings)
    if starts:
        yield from _cut(readings, starts)
    else:
        yield readings


def _is_one_run(tops: list[RoleSpan], first: RoleSpan) -> bool:
    """Whether all agents are steps of one that was asked something itself."""
    root = first.span
    if first.role != "chain" or any(reading.place.root is not root for reading in tops):
        return False
    return first.convention.user(root) is not None


def _agent_starts(tops: list[RoleSpan]) -> list[RoleSpan]:
    owner = tops[0]
    latest = owner.span.end or 0
    asked = owner.convention.user(owner.span)
    starts: list[RoleSpan] = []
    for reading in tops[1:]:
        over = (reading.span.start or 0) >= latest > 0
        latest = max(latest, reading.span.end or 0)
        if not over or (reading.name != owner.name and reading.span.parent_id is not None):
            continue
        again = reading.convention.user(reading.span)
        if _differ(asked, again, same=reading.name == owner.name):
            starts.append(reading)
            asked = again
    return starts


def _differ(asked: tuple[str, str] | None, again: tuple[str, str] | None, *, same: bool) -> bool:
    """Whether the user said something else; the same agent is not started twice for nothing."""
    if asked is None or again is None:
        return same
    return asked[1] != again[1]


def _run_starts(top: RoleSpan, readings: list[RoleSpan]) -> list[RoleSpan]:
    """Within a workflow that was asked nothing itself: the runs that go on from the last answer."""
    if top.role != "workflow" or top.convention.user(top.span) is not None:
        return []
    again = {id(model) for model in _model_starts(readings)}
    known = set[int]()
    starts: list[RoleSpan] = []
    for model in _models(readings) if again else ():
        run, above = model, model.place.agent
        while above is not None and above is not top:
            run, above = above, above.place.agent
        if id(model) in again and id(run) not in known:
            starts.append(run)
        known.add(id(run))
    return starts


def _model_starts(readings: list[RoleSpan]) -> list[RoleSpan]:
    """Without agents: a call that quotes the last answer and asks something else."""
    models = _models(readings)
    starts: list[RoleSpan] = []
    answer: str | None = None
    for reading in models if len(models) > 1 else ():
        if answer and _goes_on(reading, answer):
            starts.append(reading)
        found = reading.answered()
        if found is not None:  # another recorder beside it may tell nothing
            calls = any(said.calls for said in found[1])
            answer = None if calls else last_answer(found[1])
    return starts


def _models(readings: list[RoleSpan]) -> list[RoleSpan]:
    return [
        reading
        for reading in readings
        if reading.role == "model" and reading.place.model is None and reading.place.inside is None
    ]


def _goes_on(reading: RoleSpan, answer: str) -> bool:
    found = reading.asked()
    said = found[1] if found else []
    for before, after in pairwise(said):
        if before.role == "assistant" and before.text == answer and after.role == "user":
            return True
    return False


def _cut(readings: list[RoleSpan], starts: list[RoleSpan]) -> Iterator[list[RoleSpan]]:
    times = [reading.span.start or 0 for reading in starts]
    parts: list[list[RoleSpan]] = [[] for _ in range(len(starts) + 1)]
    for reading in readings:
        owner = reading.place.top or reading
        if (owner.span.end or 0) > times[-1] > (owner.span.start or 0):  # it is around the turns
            owner = reading
        parts[bisect_right(times, owner.span.start or 0)].append(reading)
    for part in parts:
        if part:
            yield part
