"""Metrics: pure, synchronous, offline. Each scores one (case, trace) pair."""

from karat.metrics.judge import Judge, judge_pair
from karat.metrics.metric import Metric, Outcome, evaluate
from karat.metrics.needs import Need, lacks, missing
from karat.metrics.parameters import build, parameters

__all__ = [
    "Judge",
    "Metric",
    "Need",
    "Outcome",
    "build",
    "evaluate",
    "judge_pair",
    "lacks",
    "missing",
    "parameters",
]
