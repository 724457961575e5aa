"""The same numbers as google-adk, asked of google-adk itself where it is installed."""

from __future__ import annotations

import random
from typing import Any, Literal

import pytest

from karat.metrics.response_match import rouge_1
from karat.metrics.tool_trajectory import ToolTrajectory
from karat.schema import Case, Json, Score, ToolCall, Trace, Turn

responses = pytest.importorskip("google.adk.evaluation.final_response_match_v1")
pytest.importorskip("rouge_score", reason="google-adk[eval] brings it")
trajectories = pytest.importorskip("google.adk.evaluation.trajectory_evaluator")
golden = pytest.importorskip("google.adk.evaluation.eval_case")
criteria = pytest.importorskip("google.adk.evaluation.eval_metrics")
genai = pytest.importorskip("google.genai.types")

MatchType = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]
LISTED = (
    "the dogs were running quickly generalizations happily flying skies news proceed Straße café "
    "İstanbul 你好 世界 こんにちは 한국어 สวัสดี ครับ ຂໍ້ ភាសា မြန်မာ हिन्दी مرحبا "
    "ﬁne ½ Ⅷ e\u0301 $29.99 it's a1"
)
WORDS = LISTED.split()
ARGS: tuple[Json, ...] = (
    None,
    {},
    {"x": 1},
    {"x": 1.0},
    {"x": True},
    {"x": "1"},
    {"x": [1, {"y": None}]},
)


def text(chance: random.Random) -> str:
    words = chance.choices(WORDS, k=chance.randint(0, 20))
    strange = "".join(
        chr(chance.choice([chance.randint(1, 0xD7FF), chance.randint(0xE000, 0x10FFFF)]))
        for _ in range(4)
    )
    return chance.choice([" ", "\n", ", ", ""]).join([*words, strange])


def calls(chance: random.Random) -> tuple[ToolCall, ...]:
    made = range(chance.randint(0, 4))
    return tuple(ToolCall(name=chance.choice("ab"), args=chance.choice(ARGS)) for _ in made)


def invocation(made: tuple[ToolCall, ...]) -> Any:
    uses = [genai.FunctionCall(name=call.name, args=call.args) for call in made]
    return golden.Invocation(
        user_content=genai.Content(parts=[genai.Part(text="hi")]),
        intermediate_data=golden.IntermediateData(tool_uses=uses),
    )


def theirs(match_type: MatchType, ignore_args: bool, expected: Any, actual: Any) -> float:
    kind = criteria.ToolTrajectoryCriterion
    criterion = kind(threshold=0.5, match_type=kind.MatchType[match_type], ignore_args=ignore_args)
    metric = criteria.EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    evaluator = trajectories.TrajectoryEvaluator(eval_metric=metric)
    return evaluator.evaluate_invocations(
        [invocation(made) for made in actual], [invocation(made) for made in expected]
    ).overall_score


@pytest.mark.parametrize("seed", range(20))
def test_rouge_is_adks_to_the_last_bit(seed: int):
    chance = random.Random(seed)  # noqa: S311 - made-up texts, no secrets
    for _ in range(20):
        response = text(chance)
        reference = response[: len(response) // 2] + text(chance)
        score = responses._calculate_rouge_1_scores(response, reference)
        assert rouge_1(reference, response) == score.fmeasure


@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
@pytest.mark.parametrize("ignore_args", [False, True])
def test_trajectory_is_adks_to_the_last_bit(match_type: MatchType, ignore_args: bool):
    chance = random.Random(1)  # noqa: S311 - made-up calls, no secrets
    metric = ToolTrajectory(match_type=match_type, ignore_args=ignore_args)
    for _ in range(300):
        expected = [calls(chance) for _ in range(3)]
        actual = [made if chance.random() < 0.6 else calls(chance) for made in expected]
        case = Case(id="c", turns=tuple(Turn(tool_calls=made) for made in expected))
        trace = Trace(id="t", turns=tuple(Turn(tool_calls=made) for made in actual))
        score = metric.score(case, trace)
        assert isinstance(score, Score)
        assert score.value == theirs(match_type, ignore_args, expected, actual)
