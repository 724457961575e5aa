"""The `semantic_similarity` metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import ClassVar

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.text.responses import rate_against_reference
from carob.schema import Case, Score, Trace, Unscored


@dataclass(frozen=True, kw_only=True)
class SemanticSimilarity(Metric):
    """Similarity in meaning of the response and the expected response, by an embedding model.

    max(0, cosine of the two embeddings), per turn, then the mean. `model` is the directory of a
    `model2vec` model; nothing is downloaded.
    """

    name: ClassVar[str] = "semantic_similarity"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 0.7
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.response")
    imports: ClassVar[tuple[str, ...]] = ("model2vec",)

    model: str

    def __post_init__(self) -> None:
        # model2vec would download any name that is not a directory.
        if not Path(self.model).is_dir():
            raise ValueError(f"expected the directory of an embedding model, got {self.model!r}")

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        return rate_against_reference(case, trace, self._rate)

    def _rate(self, reference: str, response: str) -> Score:
        value = _cosine(_embedding(self.model, reference), _embedding(self.model, response))
        return Score(value=min(1.0, max(0.0, value)))


def _cosine(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    norms = sqrt(sum(x * x for x in first)) * sqrt(sum(x * x for x in second))
    return sum(x * y for x, y in zip(first, second, strict=True)) / norms if norms else 0.0


@lru_cache(maxsize=1024)  # golden texts recur in every repetition of their case
def _embedding(model: str, text: str) -> tuple[float, ...]:
    vector = _encoder(model).encode([text], use_multiprocessing=False)[0]
    return tuple(float(number) for number in vector)


@lru_cache(maxsize=2)
def _encoder(model: str):  # noqa: ANN202 - an optional package without types
    return import_module("model2vec").StaticModel.from_pretrained(model)
