"""Time of scoring objects in memory, compared with google-adk's evaluators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from bench.data import kept
from bench.measure import OURS, PEERS, reported
from bench.row import Number, Row, faster

# Each side scores all pairs and prints the milliseconds of its best pass; the sums must agree.
_OURS = """
import sys, time
import msgspec
from carob.metrics.{module} import {metric} as Metric
from carob.schema import Case, ToolCall, Trace, Turn
def turn(one):
    calls = tuple(ToolCall(name=name, args=args) for name, args in one["calls"])
    return Turn(response=one["said"], tool_calls=calls)
def turns(all): return tuple(map(turn, all))
pairs = [
    (Case(id="c", turns=turns(pair["expected"])), Trace(id="t", turns=turns(pair["actual"])))
    for pair in msgspec.json.decode(open(sys.argv[1], "rb").read())
]
score = Metric().score
def once(): return [score(case, trace).value for case, trace in pairs]
"""
_THEIRS = """
import sys, time, json, warnings, logging
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.{module} import {metric} as Evaluator
from google.genai.types import Content, FunctionCall, Part
def text(said): return Content(parts=[Part(text=said)])
def invocation(one):
    uses = [FunctionCall(name=name, args=args) for name, args in one["calls"]]
    data = IntermediateData(tool_uses=uses)
    said = text(one["said"])
    return Invocation(user_content=text("hi"), final_response=said, intermediate_data=data)
pairs = [
    ([*map(invocation, pair["actual"])], [*map(invocation, pair["expected"])])
    for pair in json.load(open(sys.argv[1]))
]
score = Evaluator(eval_metric=EvalMetric(metric_name="{name}", threshold=0.5)).evaluate_invocations
def once(): return [score(*pair).overall_score for pair in pairs]
"""
_TIMED = """
def timed():
    start = time.process_time()
    once()
    return time.process_time() - start
once()
print(min(timed() for _ in range({passes})) * 1000)
"""
_WORDS = (
    "order delivery invoice refund parcel customer address payment return warranty the of a to is"
)


class _Side(NamedTuple):
    module: str
    metric: str
    passes: int


def measure() -> Iterator[Row]:
    """100 pairs of three turns, two calls and forty words each; one pair in twenty is wrong."""
    file = str(kept("pairs-100.json", lambda: [json.dumps(_pairs(100)).encode()]))
    yield _compare_metric(
        "tool_trajectory_avg_score",
        file,
        _Side("tools.trajectory", "ToolTrajectory", 500),
        _Side("trajectory_evaluator", "TrajectoryEvaluator", 100),
        target=10,
    )
    yield _compare_metric(
        "response_match_score",
        file,
        _Side("text.response_match", "ResponseMatch", 100),
        _Side("final_response_match_v1", "RougeEvaluator", 5),
        target=30,
    )


def _compare_metric(name: str, file: str, ours: _Side, theirs: _Side, *, target: float) -> Row:
    commands = {
        "carob": [OURS, "-c", _program(_OURS, name, ours), file],
        "adk": [PEERS, "-c", _program(_THEIRS, name, theirs), file],
    }
    best = reported(commands, repeats=3)
    return faster(
        f"Scoring 100 pairs of three turns, 5% with an error: `{name}`",
        Number(name=f"`{ours.metric}.score`", value=best["carob"], unit="ms"),
        Number(
            name=f"google-adk `{theirs.metric}.evaluate_invocations`", value=best["adk"], unit="ms"
        ),
        target=target,
    )


def _program(program: str, name: str, side: _Side) -> str:
    return (program + _TIMED).format(name=name, **side._asdict())


def _pairs(number: int) -> list[dict[str, Any]]:
    dice = Random(11)  # noqa: S311 - not a secret
    made: list[dict[str, Any]] = []
    for place in range(number):
        expected = [_turn(dice) for _ in range(3)]
        made.append({"expected": expected, "actual": [_said(dice, one) for one in expected]})
        if place % 20 == 0:
            made[-1]["actual"][1]["calls"][0][1] = {"order_id": "A-0", "days": 3}
    return made


def _turn(dice: Random) -> dict[str, Any]:
    args = [{"order_id": f"A-{dice.randrange(999)}", "days": 3, "all": True} for _ in range(2)]
    calls = [[tool, one] for tool, one in zip(("find_order", "track_parcel"), args, strict=True)]
    return {"said": " ".join(dice.choices(_WORDS.split(), k=40)), "calls": calls}


def _said(dice: Random, turn: dict[str, Any]) -> dict[str, Any]:
    """The same calls, and a response with some words replaced."""
    words = turn["said"].split()
    words[::5] = dice.choices(_WORDS.split(), k=len(words[::5]))
    return {"said": " ".join(words), "calls": [list(call) for call in turn["calls"]]}
