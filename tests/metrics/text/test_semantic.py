from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.metrics import build
from carob.metrics.text.semantic import SemanticSimilarity
from carob.schema import Case, Score, Trace, Turn

WORDS = {"[UNK]": [0.0, 0.0], "cheap": [1.0, 0.0], "inexpensive": [0.9, 0.1], "blue": [0.0, 1.0]}


@pytest.fixture
def model(tmp_path: Path) -> str:
    numpy = pytest.importorskip("numpy")
    tokenizers = pytest.importorskip("tokenizers")
    model2vec = pytest.importorskip("model2vec")
    places = {word: place for place, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(places, unk_token="[UNK]"))  # noqa: S106 - a word
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = numpy.array(list(WORDS.values()), dtype="float32")
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(tmp_path)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("response", "value"), [("cheap", 1.0), ("inexpensive", 0.9939), ("blue", 0.0), ("???", 0.0)]
)
def test_words_with_similar_meaning_are_close(model: str, response: str, value: float):
    metric = build(
        "semantic_similarity", {"model": model}, {"semantic_similarity": SemanticSimilarity}
    )
    score = metric.score(Case.of("hi", "cheap"), Trace(id="t", turns=(Turn(response=response),)))
    assert isinstance(score, Score)
    assert score.value == pytest.approx(value, abs=1e-4)


def test_model_name_that_would_be_downloaded_is_rejected():
    pytest.importorskip("model2vec")
    with pytest.raises(UsageError, match="expected the directory of an embedding model"):
        build(
            "semantic_similarity",
            {"model": "some/hub-name"},
            {"semantic_similarity": SemanticSimilarity},
        )
