"""Where one turn ends and the next begins within one trace id."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from karat.schema import Span
from karat.traces.conventions import messages
from karat.traces.conventions.reading import Group, Reading

Part = tuple[Span, list[Reading]]


def split(group: Group) -> Iterator[Part]:
    """The turns of a group: mostly one.

    A new turn begins where the same agent starts again after it had ended, with nothing above the
    two that would make them steps of one run, and is asked something else.
    """
    tops = [reading for reading in group.readings if _is_top(reading)]
    if len(tops) > 1:
        starts = _agent_starts(tops)
    elif tops:
        starts = []
    else:
        starts = _model_starts(group.readings)
    if not starts:
        yield group.root, group.readings
        return
    yield from _cut(group, starts)


def _is_top(reading: Reading) -> bool:
    return reading.top is None and reading.role in ("agent", "workflow") and reading.inside is None


def _agent_starts(tops: list[Reading]) -> list[Reading]:
    owner = tops[0]
    latest = owner.span.end or 0
    asked = owner.convention.user(owner.span)
    starts: list[Reading] = []
    for reading in tops[1:]:
        over = (reading.span.start or 0) >= latest > 0
        latest = max(latest, reading.span.end or 0)
        if not over or reading.name != owner.name:
            continue
        again = reading.convention.user(reading.span)
        if again is None or asked is None or again[1] != asked[1]:
            starts.append(reading)
            asked = again
    return starts


def _model_starts(readings: list[Reading]) -> list[Reading]:
    """Without agents: a call that quotes the last answer and asks something else."""
    models = [reading for reading in readings if reading.role == "model" and reading.model is None]
    starts: list[Reading] = []
    answer: str | None = None
    for reading in models if len(models) > 1 else ():
        if answer and _goes_on(reading, answer):
            starts.append(reading)
        found = reading.convention.answered(reading.span)
        calls = found is not None and any(said.calls for said in found[1])
        answer = None if found is None or calls else messages.last_answer(found[1])
    return starts


def _goes_on(reading: Reading, answer: str) -> bool:
    found = reading.convention.asked(reading.span)
    said = found[1] if found else []
    for before, after in pairwise(said):
        if before.role == "assistant" and before.text == answer and after.role == "user":
            return True
    return False


def _cut(group: Group, starts: list[Reading]) -> Iterator[Part]:
    times = [reading.span.start or 0 for reading in starts]
    parts: list[list[Reading]] = [[] for _ in range(len(starts) + 1)]
    at = 0
    for reading in group.readings:
        owner = reading.top or reading
        while at < len(times) and (owner.span.start or 0) >= times[at]:
            at += 1
        parts[at].append(reading)
    roots = [group.root, *(reading.span for reading in starts)]
    for root, readings in zip(roots, parts, strict=True):
        if readings:
            yield root, readings
