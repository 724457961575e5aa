"""Judged scores of google-adk with a scripted model: JSON lines in, JSON lines out.

Run by the interpreter of `.peers`, which has google-adk; it must not import Carob.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import asyncio
import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.eval_case import Invocation  # noqa: E402
from google.adk.evaluation.eval_metrics import EvalMetric, RubricsBasedCriterion  # noqa: E402
from google.adk.evaluation.final_response_match_v2 import (  # noqa: E402
    FinalResponseMatchV2Evaluator,
)
from google.adk.evaluation.rubric_based_final_response_quality_v1 import (  # noqa: E402
    RubricBasedFinalResponseQualityV1Evaluator,
)
from google.adk.models.llm_response import LlmResponse  # noqa: E402

KINDS = {
    "final_response_match_v2": FinalResponseMatchV2Evaluator,
    "rubric_based_final_response_quality_v1": RubricBasedFinalResponseQualityV1Evaluator,
}


class ScriptedModel:
    """Returns the votes by turn, recognized by its response, and by sample."""

    def __init__(self, votes: list[list[list[bool]]]) -> None:
        self.remaining = [list(turn) for turn in votes]

    async def generate_content_async(self, request):
        prompt = request.contents[0].parts[0].text
        turn = next(n for n in range(len(self.remaining)) if f"response number {n}." in prompt)
        yield LlmResponse(content={"parts": [{"text": sample_text(self.remaining[turn].pop(0))}]})


def sample_text(votes: list[bool]) -> str:
    """The text of a sample in the notation of both judges."""
    verdict = {"reasoning": "so", "is_the_agent_response_valid": "valid" if votes[0] else "invalid"}
    lines = [
        f"ID: r{n}\nProperty: property {n}\nRationale: so\nVerdict: {'yes' if vote else 'no'}\n"
        for n, vote in enumerate(votes)
    ]
    return json.dumps(verdict, indent=1) + "\n" + "\n".join(lines)


def turn(number: int) -> Invocation:
    return Invocation(
        user_content={"parts": [{"text": f"user {number}"}]},
        final_response={"parts": [{"text": f"response number {number}."}]},
    )


def answer(question: dict) -> dict[str, object]:
    votes = question["votes"]
    rubrics = [
        {"rubric_id": f"r{n}", "rubric_content": {"text_property": f"property {n}"}}
        for n in range(len(votes[0][0]))
    ]
    criterion = RubricsBasedCriterion(
        threshold=0.5, rubrics=rubrics, judge_model_options={"num_samples": len(votes[0])}
    )
    kind = KINDS[question["metric"]]
    kind._setup_auto_rater = lambda _: ScriptedModel(votes)
    judge = kind(EvalMetric(metric_name=question["metric"], criterion=criterion))
    turns = [turn(number) for number in range(len(votes))]
    result = asyncio.run(judge.evaluate_invocations(turns, turns))
    return {
        "score": result.overall_score,
        "turns": [o.score for o in result.per_invocation_results],
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201
