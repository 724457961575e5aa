"""Can a recording support a metric, and if not, how is what it lacks switched on?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from carob.schema import Trace
from carob.traces.conventions.hints import recording_hint

N = TypeVar("N", bound=str)


class Sufficiency(NamedTuple):
    """What one trace can support."""

    supports: dict[str, str | None]
    hints: dict[str, str]
    """By the reason why not: how to have it recorded."""


def sufficiency(
    trace: Trace,
    needs: Mapping[str, Sequence[N]],
    lacks: Callable[[N, Trace], str | None],
) -> Sufficiency:
    """Each metric by its needs; the first that is not met is the reason why not.

    `lacks` says of a need why a trace does not meet it, and `None` if it does.
    """
    several = dict.fromkeys(need for wanted in needs.values() for need in wanted)
    reasons = {need: lacks(need, trace) for need in several}
    supports: dict[str, str | None] = {}
    hints: dict[str, str] = {}
    for metric, wanted in needs.items():
        lacking = next((need for need in wanted if reasons[need]), None)
        reason = reasons[lacking] if lacking else None
        supports[metric] = reason
        hint = recording_hint(trace.convention or "", lacking) if lacking else None
        if reason and hint:
            hints[reason] = f"{trace.convention}: {hint}"
    return Sufficiency(supports, hints)
