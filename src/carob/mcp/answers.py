"""Small answers: what a coding agent reads costs context, so that texts and lists are cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

import msgspec

from carob.schema import CaseResult, Json, Problem, Run

Answer: TypeAlias = dict[str, object]

MAX_TEXT = 400
"""Characters of a text."""
PAGE = 5
"""Cases, traces and files of one answer."""
_PROBLEMS = 10
_ITEMS = 20


def cut_text(text: str | None, limit: int = MAX_TEXT) -> str | None:
    """Return the start of a long text, with the number of characters that are missing."""
    if text is None or len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def to_json(value: object, limit: int = MAX_TEXT) -> Json:
    """Return a value of the data model as JSON, with every text in it cut."""
    return _cut(_to_builtins(value), limit)


def to_object(value: msgspec.Struct) -> dict[str, Json]:
    """Return a struct as a JSON object, with long texts and lists cut."""
    fields = cast("dict[str, Json]", _to_builtins(value))
    return {key: _cut_list(_cut(item, MAX_TEXT)) for key, item in fields.items()}


def _to_builtins(value: object) -> Json:
    return msgspec.to_builtins(value, enc_hook=_list_items)


def _list_items(value: object) -> list[object]:
    """Return the items of a list that is made while it is iterated, such as many flips."""
    if isinstance(value, Sequence):
        return [*cast("Sequence[object]", value)]
    raise NotImplementedError(f"cannot write {type(value).__name__} as JSON")


def _cut(value: Json, limit: int) -> Json:
    if isinstance(value, str):
        return cut_text(value, limit)
    if isinstance(value, list | tuple):
        return [_cut(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item, limit) for key, item in value.items()}
    return value


def _cut_list(value: Json) -> Json:
    if isinstance(value, list) and len(value) > _ITEMS:
        return [*value[:_ITEMS], f"… and {len(value) - _ITEMS:,} more"]
    return value


def describe_problems(problems: Sequence[Problem]) -> Answer:
    """Return the first problems, errors first, and how many there are."""
    order = {"error": 0, "warning": 1, "note": 2}
    ranked = sorted(problems, key=lambda problem: order.get(problem.severity, 3))
    return {"problems": to_json(ranked[:_PROBLEMS]), "problem_count": len(problems)}


def describe_run(run: Run, failures: Sequence[CaseResult], after: int) -> Answer:
    """Return the verdict of a run, its numbers, and some of the cases that did not pass."""
    counts = run.summary.cases
    remaining = counts.failed + counts.errors + counts.unscored - after - len(failures)
    return {
        "run": run.id,
        "verdict": run.verdict,
        **({"stopped": run.stopped} if run.stopped else {}),
        "cases": msgspec.to_builtins(counts),
        "metrics": {
            name: {
                "mean": summary.mean,
                "passed": summary.passed,
                "failed": summary.failed,
                "unscored": summary.unscored,
                "errors": summary.errors,
            }
            for name, summary in run.summary.metrics.items()
        },
        "failures": [describe_result(result) for result in failures],
        "next": after + len(failures) if remaining > 0 and failures else None,
    }


def describe_result(result: CaseResult) -> Answer:
    """Return why a case did not pass: the metrics that say so, and the turns that differ."""
    return {
        "case": result.case,
        "trace": result.trace,
        "status": result.status,
        "why": [
            {
                "metric": score.metric,
                "status": score.status,
                "value": score.value,
                "threshold": score.threshold,
                "reason": cut_text(score.reason),
            }
            for score in result.scores
            if score.status in ("failed", "error", "unscored")
        ],
        "turns": [to_json(turn) for turn in result.exchanges if turn.expected != turn.actual][:2],
    }
