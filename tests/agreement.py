"""How far metrics agree with labels: accuracy and Cohen's kappa on the labelled texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from carob.metrics import Metric
from carob.metrics.safety.harm import Harm
from carob.metrics.safety.pii_leak import PiiLeak
from carob.metrics.safety.safety import Safety
from carob.metrics.text.coherence import Coherence
from carob.metrics.text.conciseness import Conciseness
from carob.metrics.text.consistency import Consistency
from carob.metrics.text.factuality import Completeness, Factuality
from carob.metrics.text.hallucination import Hallucination
from carob.metrics.text.overlap import Bleu, Chrf, RougeL
from carob.metrics.text.relevance import Relevance
from carob.metrics.text.response_match import ResponseMatch
from carob.schema import Case, Score, Trace, Turn

LABELLED = Path(__file__).parent / "metrics" / "labelled"
LABELLED_METRICS: tuple[Metric, ...] = (
    Coherence(),
    Completeness(),
    Conciseness(),
    Consistency(),
    Factuality(),
    Hallucination(),
    Harm(),
    PiiLeak(),
    Relevance(),
    Safety(),
)
OVERLAP_METRICS: tuple[Metric, ...] = (Bleu(), Chrf(), ResponseMatch(), RougeL())
"""Metrics without labels of their own. They are compared with the labels of `factuality`."""
HALLUCINATION_THRESHOLD = 0.7
"""Where `hallucination`, which is informational, is cut for the comparison."""


class Pair(msgspec.Struct, kw_only=True):
    """A response with the labels of a person: whether each metric should pass it."""

    kind: str
    language: str
    response: str
    labels: dict[str, bool]
    user: str | None = None
    context: str | None = None
    reference: str | None = None


class Agreement(msgspec.Struct, frozen=True):
    """How often a metric passes what is labelled good, and fails what is labelled bad."""

    passed: int
    good: int
    failed: int
    bad: int

    @property
    def size(self) -> int:
        return self.good + self.bad

    @property
    def accuracy(self) -> float:
        return (self.passed + self.failed) / self.size

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 1 is full agreement, 0 what chance gives, less is worse than chance."""
        passes = self.passed + self.bad - self.failed
        fails = self.size - passes
        chance = (self.good * passes + self.bad * fails) / self.size**2
        return (self.accuracy - chance) / (1 - chance)

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.2f}, κ {self.kappa:.2f} on {self.size} labelled texts"


@cache
def pairs(*names: str) -> tuple[Pair, ...]:
    """Read labelled texts."""
    texts = [(LABELLED / f"{name}.jsonl").read_bytes() for name in names]
    lines = [line for text in texts for line in text.splitlines()]
    return tuple(msgspec.json.decode(line, type=Pair) for line in lines)


def passes(metric: Metric, pair: Pair) -> bool:
    """Tell whether a pair passes. A pair without a score does not."""
    case = Case(
        id="c", context=pair.context, turns=(Turn(user=pair.user, response=pair.reference),)
    )
    trace = Trace(id="t", turns=(Turn(user=pair.user, response=pair.response),))
    outcome = metric.score(case, trace)
    threshold = HALLUCINATION_THRESHOLD if metric.threshold is None else metric.threshold
    return isinstance(outcome, Score) and outcome.value >= threshold


def agreement(metric: Metric, labelled: Sequence[Pair]) -> Agreement:
    """Compare a metric with its labels, or an overlap metric with those of `factuality`."""
    label = "factuality" if metric in OVERLAP_METRICS else metric.name
    judged = [
        (pair.labels[label], passes(metric, pair)) for pair in labelled if label in pair.labels
    ]
    good = [passed for expected, passed in judged if expected]
    bad = [passed for expected, passed in judged if not expected]
    return Agreement(good.count(True), len(good), bad.count(False), len(bad))


def measured_agreement() -> dict[str, Agreement]:
    """Return the agreement of each metric on the texts that no metric was adjusted to."""
    return {
        metric.name: agreement(metric, pairs("measured"))
        for metric in (*LABELLED_METRICS, *OVERLAP_METRICS)
    }
