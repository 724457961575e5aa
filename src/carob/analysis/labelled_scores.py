"""Pair human labels with a judge's scores of the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from carob.analysis.per_case import attempts_by_case
from carob.errors import EvaluationError, UsageError
from carob.schema import CaseResult, CaseScore, Label, Run

_SHOWN = 3


class LabelledAnswer(NamedTuple):
    """One answer of the agent, with its human labels and the judge's score."""

    case: str
    trace: str | None
    labels: Sequence[Label]
    score: CaseScore | None
    """`None` if the run has no such answer, or the answer has no score of the metric."""


def labelled_answers(run: Run, metric: str, labels: Sequence[Label]) -> list[LabelledAnswer]:
    """The answers that people labelled, in the order of the labels."""
    results = attempts_by_case(run)
    groups: dict[tuple[str, str | None], tuple[CaseResult | None, list[Label]]] = {}
    for label in labels:
        result = _find_result(results.get(label.case, ()), label)
        key = (label.case, result.trace if result else label.trace)
        groups.setdefault(key, (result, []))[1].append(label)
    answers = [
        LabelledAnswer(case, trace, group, _find_score(result, metric) if result else None)
        for (case, trace), (result, group) in groups.items()
    ]
    _check_any_scored(run, metric, answers)
    return answers


def _find_result(results: Sequence[CaseResult], label: Label) -> CaseResult | None:
    if label.trace is not None:
        return next((result for result in results if result.trace == label.trace), None)
    if len(results) > 1:
        traces = ", ".join(str(result.trace) for result in results[:_SHOWN])
        message = f"case {label.case!r} has {len(results)} traces and the label does not say which"
        hint = f"set `trace` to one of: {traces}"
        raise UsageError(message, where=label.where, hint=hint + ("…" * (len(results) > _SHOWN)))
    return results[0] if results else None


def _find_score(result: CaseResult, metric: str) -> CaseScore | None:
    return next((score for score in result.scores if score.metric == metric), None)


def _check_any_scored(run: Run, metric: str, answers: Sequence[LabelledAnswer]) -> None:
    scores = [answer.score for answer in answers if answer.score]
    if not scores:
        labelled = ", ".join(repr(answer.case) for answer in answers[:_SHOWN])
        known = ", ".join(map(repr, [*attempts_by_case(run)][:_SHOWN]))
        message = f"{run.id} has none of the labelled answers, such as {labelled}"
        raise EvaluationError(message, hint=f"the run has cases such as {known}" if known else None)
    if all(score.value is None for score in scores):
        reason = scores[0].reason or scores[0].status
        message = f"{metric} scored none of the {len(scores):,} labelled answers"
        raise EvaluationError(message, hint=f"reason for the first: {reason}")
