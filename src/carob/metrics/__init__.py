"""Metrics: pure, synchronous, offline. Each scores one (case, trace) pair."""

from carob.metrics.judge import NO_JUDGE, Answer, Ask, Judge, JudgeClient, Question, judge_pair
from carob.metrics.ledger import Ledger, LedgerEntry, add_usage
from carob.metrics.metric import Metric, Outcome, evaluate
from carob.metrics.needs import Need, missing_data, unmet_need
from carob.metrics.parameters import build, check_packages, metric_parameters

__all__ = [
    "NO_JUDGE",
    "Answer",
    "Ask",
    "Judge",
    "JudgeClient",
    "Ledger",
    "LedgerEntry",
    "Metric",
    "Need",
    "Outcome",
    "Question",
    "add_usage",
    "build",
    "check_packages",
    "evaluate",
    "judge_pair",
    "metric_parameters",
    "missing_data",
    "unmet_need",
]
