"""What people and a judge looked at: labels and scores of the same answers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from carob.analysis.align import by_case
from carob.errors import RefusedError, UsageError
from carob.schema import CaseResult, CaseScore, Label, Run

_SHOWN = 3


class LookedAt(NamedTuple):
    """One answer of the agent."""

    case: str
    trace: str | None
    labels: Sequence[Label]
    score: CaseScore | None
    """`None` if the run has no such answer, or none of its scores is of the metric."""


def looked_at(run: Run, metric: str, labels: Sequence[Label]) -> list[LookedAt]:
    """The answers that people labelled, in the order of the labels."""
    results = by_case(run)
    found: dict[tuple[str, str | None], tuple[CaseResult | None, list[Label]]] = {}
    for label in labels:
        result = _result(results.get(label.case, ()), label)
        key = (label.case, result.trace if result else label.trace)
        found.setdefault(key, (result, []))[1].append(label)
    made = [
        LookedAt(case, trace, told, _score(result, metric) if result else None)
        for (case, trace), (result, told) in found.items()
    ]
    _check_any(run, metric, made)
    return made


def _result(results: Sequence[CaseResult], label: Label) -> CaseResult | None:
    if label.trace is not None:
        return next((one for one in results if one.trace == label.trace), None)
    if len(results) > 1:
        traces = ", ".join(str(one.trace) for one in results[:_SHOWN])
        message = f"case {label.case!r} has {len(results)} traces, and the label names none"
        hint = f"write into `trace` which one was looked at: {traces}"
        raise UsageError(message, where=label.where, hint=hint + ("…" * (len(results) > _SHOWN)))
    return results[0] if results else None


def _score(result: CaseResult, metric: str) -> CaseScore | None:
    return next((one for one in result.scores if one.metric == metric), None)


def _check_any(run: Run, metric: str, made: Sequence[LookedAt]) -> None:
    scores = [one.score for one in made if one.score]
    if not scores:
        named = ", ".join(repr(one.case) for one in made[:_SHOWN])
        known = ", ".join(map(repr, [*by_case(run)][:_SHOWN]))
        message = f"{run.id} has none of the answers that are labelled, such as {named}"
        raise RefusedError(message, hint=f"cases of the run are {known}" if known else None)
    if all(one.value is None for one in scores):
        why = scores[0].reason or scores[0].status
        message = f"{metric} scored none of the {len(scores):,} answers that are labelled"
        raise RefusedError(message, hint=f"of the first it says: {why}")
