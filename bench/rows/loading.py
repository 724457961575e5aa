"""Time to load a large ADK EvalSet."""

from __future__ import annotations

from collections.abc import Iterator

from bench.data import evalset
from bench.measure import OURS, PEERS, reported
from bench.row import Number, Row, faster

# Our time includes reading the file, theirs does not.
_OURS = """
import sys, time, carob
carob.load(sys.argv[2])
start = time.perf_counter()
dataset = carob.load(sys.argv[1])
print(time.perf_counter() - start)
assert sum(len(case.turns) for case in dataset.cases) == 100_000
"""
_THEIRS = """
import sys, time
from google.adk.evaluation.eval_set import EvalSet
EvalSet.model_validate_json(open(sys.argv[2], "rb").read())
data = open(sys.argv[1], "rb").read()
start = time.perf_counter()
loaded = EvalSet.model_validate_json(data)
print(time.perf_counter() - start)
assert sum(len(case.conversation) for case in loaded.eval_cases) == 100_000
"""


def measure() -> Iterator[Row]:
    """100,000 invocations; a small file is loaded first to warm up."""
    files = (evalset(100_000), evalset(10))
    commands = {"carob": [OURS, "-c", _OURS, *files], "adk": [PEERS, "-c", _THEIRS, *files]}
    best = reported(commands, repeats=3)
    yield faster(
        f"Loading an EvalSet of 100,000 invocations ({files[0].stat().st_size / 1e6:.0f} MB)",
        Number(name="`carob.load`", value=best["carob"], unit="s"),
        Number(name="google-adk `EvalSet.model_validate_json`", value=best["adk"], unit="s"),
        target=8,
    )
