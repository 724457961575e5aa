from __future__ import annotations

import random

import pytest

from carob.metrics.text.overlap import Bleu, Chrf, RougeL, bleu, chrf, common_length, rouge_l
from carob.schema import Case, Score, Trace, Turn

LISTED = (
    "the cat sat on mat, the. dog 3.5 1,000 isn't 12-13 (ok) &amp; running quickly café 你好 a b c "
    'x-y "end!" ... [1] under_score'
)
MARKED = ["&quot;ok&quot;", "&lt;5", "&gt;3", "<skipped>", "re-\nfund", "refund", "two\nlines"]
WORDS = [*LISTED.split(), *MARKED]


def texts(seed: int) -> tuple[str, str]:
    chance = random.Random(seed)  # noqa: S311 - made-up texts, no secrets
    first = " ".join(chance.choices(WORDS, k=chance.randint(0, 14)))
    second = " ".join(chance.choices(WORDS, k=chance.randint(0, 14)))
    return first, second if seed % 3 else first.replace("cat", "cow")


PAIRS = [texts(seed) for seed in range(500)]


def test_bleu_equals_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    for reference, response in PAIRS:
        expected = sacrebleu.sentence_bleu(response, [reference]).score / 100
        assert bleu(reference, response) == pytest.approx(expected, abs=1e-9)


def test_chrf_equals_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    for reference, response in PAIRS:
        expected = sacrebleu.sentence_chrf(response, [reference]).score / 100
        assert chrf(reference, response) == pytest.approx(expected, abs=1e-9)


def test_rouge_l_equals_rouge_score_on_plain_text():
    module = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = module.RougeScorer(["rougeL"], use_stemmer=True)
    for reference, response in PAIRS:
        if (reference + response).isascii():
            expected = scorer.score(reference, response)["rougeL"].fmeasure
            assert rouge_l(reference, response) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [
        ("", "abc", 0),
        ("abc", "abc", 3),
        ("abcbdab", "bdcaba", 4),
        ("ab", "ba", 1),
        ("aaa", "aa", 2),
    ],
)
def test_longest_common_subsequence(first: str, second: str, length: int):
    assert common_length(first, second) == common_length(second, first) == length


@pytest.mark.parametrize("metric", [RougeL(), Bleu(), Chrf()], ids=lambda metric: metric.name)
def test_same_text_scores_one_and_foreign_text_zero(metric: RougeL | Bleu | Chrf):
    case = Case.of("hi", "Refunds take five days.")
    for text, value in (("Refunds take five days.", 1.0), ("@#", 0.0), ("", 0.0)):
        trace = Trace(id="t", turns=(Turn(response=text),))
        score = metric.score(case, trace)
        assert isinstance(score, Score)
        assert score.value == pytest.approx(value)
