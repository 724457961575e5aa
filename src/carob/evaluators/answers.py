"""The answers of evaluators as outcomes, by protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from carob.evaluators.process import EvaluatorError
from carob.metrics import Outcome
from carob.metrics.function import as_outcome
from carob.schema import Score, Unscored
from carob.schema.outcome import Scale

_SCALE: Scale = (0.0, 1.0)


def parse_answer(answer: bytes, id: int | None = None) -> dict[str, Any]:
    """Return the JSON object that an evaluator wrote. Raises `EvaluatorError`, also if it names
    another id than that of the document."""
    try:
        value = msgspec.json.decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = None
    if not isinstance(value, dict):
        text = answer.decode("utf-8", "replace").strip()
        raise EvaluatorError(f"expected a JSON object on stdout, got {text!r:.200}")
    known = cast("dict[str, Any]", value)
    if id is not None and known.get("id") not in (None, id):
        raise EvaluatorError(f"expected the answer to line {id}, got that to {known['id']!r:.80}")
    return known


def read_line(answer: Mapping[str, Any]) -> Outcome:
    """Read an answer of Carob's line protocol."""
    if answer.get("error") is not None:
        raise EvaluatorError(str(answer["error"]))
    if answer.get("unscored") is not None:
        return Unscored(reason=str(answer["unscored"]))
    return _read_score(answer.get("score"), str(answer.get("reason") or ""))


def read_eval_result(answer: Mapping[str, Any], threshold: float) -> Outcome:
    """Read an answer of agentevals. The status is read first: an evaluator that could not evaluate
    says so there, with a score of 0.0, and one that fails a pair may give it a high score."""
    reason = _reason(answer.get("details"))
    if answer.get("status") == "NOT_EVALUATED":
        return Unscored(reason=reason or "the evaluator did not evaluate the pair")
    outcome = _read_score(answer.get("score"), reason)
    if answer.get("status") == "FAILED" and isinstance(outcome, Score):
        if outcome.value >= threshold:
            text = f"the evaluator failed the pair with a score of {outcome.value:g}"
            return Score(0.0, reason=f"{text}; {outcome.reason}".rstrip("; "))
        return outcome
    turns = answer.get("per_invocation_scores")
    if isinstance(outcome, Score) and isinstance(turns, list) and turns:
        return msgspec.structs.replace(outcome, turns=tuple(cast("list[float | None]", turns)))
    return outcome


def read_grading(answer: Mapping[str, Any]) -> Outcome:
    """Read the result of a promptfoo assertion: a boolean, a number, or an object with `pass`,
    `score` and `reason`. If it has `pass`, that decides, whatever the score is."""
    if answer.get("error") is not None:
        raise EvaluatorError(str(answer["error"]))
    result = answer.get("result")
    if not isinstance(result, dict):
        return _read_score(result, "")
    grading = cast("dict[str, Any]", result)
    passed, score = grading.get("pass", grading.get("pass_")), grading.get("score")
    reason = str(grading.get("reason") or "")
    if not isinstance(passed, bool):
        return _read_score(score, reason)
    if score not in (None, float(passed)):
        reason = f"score {score}; {reason}".rstrip("; ")
    return _read_score(passed, reason)


def _read_score(score: object, reason: str) -> Outcome:
    if isinstance(score, bool):
        score = float(score)
    if not isinstance(score, int | float):
        raise EvaluatorError(f"expected a number as the score, got {score!r:.80}")
    try:
        return as_outcome(Score(float(score), reason=reason), _SCALE)
    except ValueError as error:
        raise EvaluatorError(str(error)) from error


def _reason(details: object) -> str:
    if not isinstance(details, dict) or not details:
        return ""
    known = cast("dict[str, Any]", details)
    reason = known.get("reason") or known.get("error")
    return str(reason) if reason else msgspec.json.encode(known).decode()
