"""Metrics: pure, synchronous, offline. Each scores one (case, trace) pair."""

from karat.metrics.judge import NO_JUDGE, Asker, Judge, judge_pair
from karat.metrics.ledger import Entry, Ledger, together
from karat.metrics.metric import Metric, Outcome, evaluate
from karat.metrics.needs import Need, lacks, missing
from karat.metrics.parameters import build, parameters
from karat.metrics.question import Answer, Ask, Question

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
