"""Throughput with a slow judge provider, compared with google-adk's judge of the same name."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from bench.data import answered
from bench.measure import OURS, PEERS, ROOT, environment, reported
from bench.row import Number, Row, at_most, faster

LATENCY = 0.2
CASES = 1000
CONCURRENCY = 64
_FEW = 20
"""Cases for google-adk, which judges them one after the other."""

_OURS = """
import sys, time
import carob
from carob.config import MetricChoice
from carob.schema import JudgeSettings
golden, url, cases, concurrency = sys.argv[1:]
dataset = carob.load(golden)
judge = JudgeSettings(model="openai:judge", url=url + "/v1", concurrency=int(concurrency))
metric = MetricChoice(name="final_response_match_v2", params={"samples": 1})
start = time.perf_counter()
run = carob.run(golden=golden, metrics=[metric], judge=judge)
taken = time.perf_counter() - start
assert run.spending["final_response_match_v2"].answers == int(cases), run.spending
print(taken)
"""
_ADK = """
import asyncio, logging, os, sys, time, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
os.environ |= {"GOOGLE_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": sys.argv[1]}
from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, JudgeModelOptions, LlmAsAJudgeCriterion
from google.adk.evaluation.final_response_match_v2 import FinalResponseMatchV2Evaluator
from google.genai.types import Content, Part
def text(said): return Content(role="user", parts=[Part(text=said)])
options = JudgeModelOptions(judge_model="gemini-2.5-flash", num_samples=1)
criterion = LlmAsAJudgeCriterion(threshold=0.5, judge_model_options=options)
name = "final_response_match_v2"
metric = EvalMetric(metric_name=name, threshold=0.5, criterion=criterion)
judge = FinalResponseMatchV2Evaluator(metric)
def invocation(said): return Invocation(user_content=text("When?"), final_response=text(said))
actual = [invocation(f"At {n}.") for n in range(int(sys.argv[2]))]
asyncio.run(judge.evaluate_invocations(actual[:1], actual[:1]))
start = time.perf_counter()
found = asyncio.run(judge.evaluate_invocations(actual, actual))
print(time.perf_counter() - start)
assert found.overall_score == 1.0
"""


def measure() -> Iterator[Row]:
    """Ideally, the maximum number of concurrent calls is in flight all the time."""
    golden = answered(CASES)
    with _provider() as url:
        commands = {
            "carob": [OURS, "-c", _OURS, golden, url, str(CASES), str(CONCURRENCY)],
            "adk": [PEERS, "-c", _ADK, url, str(_FEW)],
        }
        best = reported(commands, repeats=2)
    yield at_most(
        f"Judging {CASES:,} cases: {CONCURRENCY} concurrent calls of {LATENCY * 1000:.0f} ms",
        Number(name="`carob.run`", value=best["carob"], unit="s"),
        Number(name="ideal", value=CASES * LATENCY / CONCURRENCY, unit="s"),
        target=1.25,
    )
    yield faster(
        "Judging one case: `final_response_match_v2` with one sample",
        Number(name="`carob.run`", value=1000 * best["carob"] / CASES, unit="ms"),
        Number(name="google-adk with defaults", value=1000 * best["adk"] / _FEW, unit="ms"),
        target=40,
    )


@contextmanager
def _provider() -> Generator[str]:
    command = [OURS, "-m", "bench.judge_server", "--latency", str(LATENCY)]
    with subprocess.Popen(
        [str(part) for part in command], cwd=ROOT, env=environment(), stdout=subprocess.PIPE
    ) as server:
        try:
            yield next(iter(server.stdout or ())).decode().strip()
        finally:
            server.terminate()
