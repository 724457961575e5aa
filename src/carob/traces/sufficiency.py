"""Which metrics a trace supports, and how to record what is missing for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from carob.schema import Trace
from carob.traces.conventions.hints import how_to_record, span_convention

N = TypeVar("N", bound=str)


class Sufficiency(NamedTuple):
    """What one trace can support."""

    supports: dict[str, str | None]
    hints: dict[str, str]
    """How to record what is missing, by the reason."""


def check_sufficiency(
    trace: Trace,
    needs: Mapping[str, Sequence[N]],
    lacks: Callable[[N, Trace], str | None],
) -> Sufficiency:
    """Check the needs of each metric; the first that is not met is the reason.

    `lacks` returns why a trace does not meet a need, or `None` if it does.
    """
    unique = dict.fromkeys(need for metric_needs in needs.values() for need in metric_needs)
    reasons = {need: lacks(need, trace) for need in unique}
    supports: dict[str, str | None] = {}
    hints: dict[str, str] = {}
    for metric, metric_needs in needs.items():
        unmet = next((need for need in metric_needs if reasons[need]), None)
        reason = reasons[unmet] if unmet else None
        supports[metric] = reason
        hint = how_to_record(span_convention(trace), unmet) if unmet else None
        if reason and hint:
            hints[reason] = f"{trace.convention}: {hint}"
    return Sufficiency(supports, hints)
