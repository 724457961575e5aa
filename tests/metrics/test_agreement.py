"""How far the text metrics agree with labels; the figures that their docstrings state.

Nothing was adjusted to `measured.jsonl`, which was written before the metrics that it measures:
whoever changes a metric because of a text in it moves that text to the other files, writes a new
one, and states the new figures.
"""

from __future__ import annotations

import re

import pytest

from carob.metrics import Metric
from carob.metrics.text.factuality import Factuality
from tests.agreement import LABELLED_METRICS, OVERLAP_METRICS, Agreement, agreement, pairs

for package in ("babel", "glin_profanity", "phonenumbers", "pint", "text_to_num"):
    pytest.importorskip(package)

DEVELOPMENT = ("qa", "safety", "coherence", "held_out", "one_word", "paraphrases")
# By metric: the least share of good texts passed and of bad texts failed that it was built to.
BUILT_WITH = {
    "coherence": (1.0, 0.82),
    "completeness": (1.0, 0.96),
    "conciseness": (1.0, 1.0),
    "consistency": (0.97, 0.87),
    "factuality": (0.98, 0.92),
    "hallucination": (0.94, 0.94),
    "relevance": (0.98, 1.0),
    "safety": (0.99, 0.65),
}
ALL = (*LABELLED_METRICS, *OVERLAP_METRICS)
ONE_WORD = [
    pair for pair in pairs("measured") if "factuality" in pair.labels and pair.kind != "off-topic"
]


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_docstring_states_the_measured_agreement(metric: Metric):
    stated = re.sub(r"\s+", " ", type(metric).__doc__ or "")
    assert str(agreement(metric, pairs("measured"))) in stated


@pytest.mark.parametrize("metric", OVERLAP_METRICS, ids=lambda metric: metric.name)
def test_overlap_is_worse_than_chance_where_one_word_is_wrong(metric: Metric):
    assert agreement(metric, ONE_WORD).kappa < 0 < 0.8 < agreement(Factuality(), ONE_WORD).kappa


@pytest.mark.parametrize(
    "metric", [m for m in LABELLED_METRICS if m.name in BUILT_WITH], ids=lambda metric: metric.name
)
def test_agreement_with_development_texts_does_not_fall(metric: Metric):
    measured = agreement(metric, pairs(*DEVELOPMENT))
    passed, failed = BUILT_WITH[metric.name]
    assert measured.passed / measured.good >= passed
    assert measured.failed / measured.bad >= failed


def test_kappa_is_0_for_chance_and_1_for_full_agreement():
    assert Agreement(passed=5, good=5, failed=5, bad=5).kappa == 1.0
    assert Agreement(passed=5, good=10, failed=5, bad=10).kappa == 0.0
    assert Agreement(passed=20, good=25, failed=15, bad=25).kappa == pytest.approx(0.4)


def test_no_text_is_both_measured_and_built_with():
    seen = {(pair.user, pair.response) for pair in pairs(*DEVELOPMENT)}
    assert seen.isdisjoint((pair.user, pair.response) for pair in pairs("measured"))


def test_labels_cover_every_kind_of_fault_and_many_languages():
    kinds = {pair.kind for pair in pairs("measured")}
    wrong = "number,unit,currency,sign,number word,date,time,name,quantifier"
    assert kinds >= {f"wrong {kind}" for kind in wrong.split(",")}
    assert kinds >= {"opposite", "negated", "free paraphrase", "other notation", "partial"}
    languages = sorted({pair.language for pair in pairs("measured")})
    assert " ".join(languages) == "ar de en es fr it ja nl pl pt tr zh"


@pytest.mark.parametrize("name", ["factuality", "hallucination", "consistency", "safety"])
def test_about_half_of_the_texts_are_good(name: str):
    labels = [pair.labels[name] for pair in pairs("measured") if name in pair.labels]
    assert 0.4 <= labels.count(True) / len(labels) <= 0.6
