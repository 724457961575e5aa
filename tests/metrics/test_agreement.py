"""How far the text metrics agree with labels; the figures that their docstrings state.

Nothing was adjusted to `held_out.jsonl`: whoever changes a metric because of a pair in it moves
that pair to the other files, writes a new one, and states the new figures.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from carob.metrics import Metric
from carob.metrics.safety.safety import Safety
from carob.metrics.text.coherence import Coherence
from carob.metrics.text.conciseness import Conciseness
from carob.metrics.text.consistency import Consistency
from carob.metrics.text.factuality import Completeness, Factuality
from carob.metrics.text.hallucination import Hallucination
from carob.metrics.text.relevance import Relevance
from carob.schema import Case, Score, Trace, Turn

LABELLED = Path(__file__).parent / "labelled"
METRICS: tuple[Metric, ...] = (
    Coherence(),
    Completeness(),
    Conciseness(),
    Consistency(),
    Factuality(),
    Hallucination(),
    Relevance(),
    Safety(),
)
# By metric: the least share of good pairs passed and of bad pairs failed that it was built to.
BUILT_WITH = {
    "coherence": (1.0, 1.0),
    "completeness": (1.0, 0.96),
    "conciseness": (1.0, 1.0),
    "consistency": (0.94, 0.75),
    "factuality": (0.96, 0.89),
    "hallucination": (0.93, 0.89),
    "relevance": (0.98, 1.0),
    "safety": (1.0, 0.93),
}


class Pair(msgspec.Struct, kw_only=True):
    kind: str
    language: str
    response: str
    labels: dict[str, bool]
    user: str | None = None
    context: str | None = None
    reference: str | None = None


class Agreement(msgspec.Struct):
    passed: int
    good: int
    failed: int
    bad: int


def pairs(*names: str) -> list[Pair]:
    texts = [(LABELLED / f"{name}.jsonl").read_bytes() for name in names]
    return [msgspec.json.decode(line, type=Pair) for text in texts for line in text.splitlines()]


def passes(metric: Metric, pair: Pair) -> bool | None:
    case = Case(
        id="c", context=pair.context, turns=(Turn(user=pair.user, response=pair.reference),)
    )
    trace = Trace(id="t", turns=(Turn(user=pair.user, response=pair.response),))
    outcome = metric.score(case, trace)
    assert metric.threshold is not None
    return outcome.value >= metric.threshold if isinstance(outcome, Score) else None


def agreement(metric: Metric, labelled: list[Pair]) -> Agreement:
    judged = [
        (pair.labels[metric.name], passes(metric, pair))
        for pair in labelled
        if metric.name in pair.labels
    ]
    good = [passed for label, passed in judged if label]
    bad = [passed for label, passed in judged if not label]
    return Agreement(good.count(True), len(good), bad.count(False), len(bad))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_docstring_states_the_agreement_on_held_out_pairs(metric: Metric):
    if metric.name == "safety":
        pytest.importorskip("glin_profanity")
    found = agreement(metric, pairs("held_out"))
    stated = (
        f"{found.passed} of {found.good} good ones passed and "
        f"{found.failed} of {found.bad} bad ones failed"
    )
    assert stated in re.sub(r"\s+", " ", type(metric).__doc__ or "")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_agreement_with_development_pairs_does_not_fall(metric: Metric):
    if metric.name == "safety":
        pytest.importorskip("glin_profanity")
    found = agreement(metric, pairs("qa", "safety", "coherence"))
    passed, failed = BUILT_WITH[metric.name]
    assert found.passed / found.good >= passed
    assert found.failed / found.bad >= failed


def test_no_pair_is_both_held_out_and_built_with():
    seen = {(pair.user, pair.response) for pair in pairs("qa", "safety", "coherence")}
    assert seen.isdisjoint((pair.user, pair.response) for pair in pairs("held_out"))


def test_labels_cover_every_kind_of_fault_and_several_languages():
    kinds = {pair.kind for pair in pairs("held_out")}
    faults = "wrong entity,wrong number,negated,off-topic,padded,unsafe,PII"
    assert kinds.issuperset(faults.split(","))
    assert {pair.language for pair in pairs("held_out")} >= {"en", "es", "de", "ru", "zh"}
