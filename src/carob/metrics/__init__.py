"""Metrics: pure, synchronous, offline. Each scores one (case, trace) pair."""

from carob.metrics.judge import NO_JUDGE, Asker, Judge, judge_pair
from carob.metrics.ledger import Entry, Ledger, together
from carob.metrics.metric import Metric, Outcome, evaluate
from carob.metrics.needs import Need, lacks, missing
from carob.metrics.parameters import build, parameters
from carob.metrics.question import Answer, Ask, Question

__all__ = [
    "NO_JUDGE",
    "Answer",
    "Ask",
    "Asker",
    "Entry",
    "Judge",
    "Ledger",
    "Metric",
    "Need",
    "Outcome",
    "Question",
    "build",
    "evaluate",
    "judge_pair",
    "lacks",
    "missing",
    "parameters",
    "together",
]
