"""Scores of google-adk: a line of JSON in, a line of JSON out.

Run by the interpreter of `.peers`, which has google-adk; it must not import Carob.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.eval_case import Invocation  # noqa: E402
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion  # noqa: E402
from google.adk.evaluation.metric_evaluator_registry import (  # noqa: E402
    DEFAULT_METRIC_EVALUATOR_REGISTRY,
)


def answer(question: dict) -> dict[str, object]:
    """The overall score and the score of each turn, or the exception of google-adk."""
    metric = EvalMetric(metric_name=question["metric"])
    if question["metric"] == "tool_trajectory_avg_score":
        metric.criterion = ToolTrajectoryCriterion.model_validate(question["criterion"])
    elif question["metric"] == "response_match_score":
        metric.threshold = 0.5
    actual, expected = (
        [Invocation.model_validate(invocation) for invocation in question[side]]
        for side in ("actual", "expected")
    )
    try:
        evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(metric)
        result = evaluator.evaluate_invocations(actual, expected)
    except ValueError as error:
        return {"error": str(error)}
    turns = [invocation.score for invocation in result.per_invocation_results]
    return {"score": result.overall_score, "turns": turns}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201
