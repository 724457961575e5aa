"""Adjust the p-values of several tests on the same cases.

Metrics of one run are correlated: a wrong answer is usually also irrelevant. Holm's method pays for
every metric as if it were independent. The step-down maxT method of Westfall and Young flips the
signs of whole cases, for all metrics at once, and so pays only for what the metrics do not share.
Both keep the probability of any false positive at most alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from carob.analysis.distributions import import_optional
from carob.analysis.sign_flip import DRAWN, EXACT, FLIPS, SEED

_BATCH = 1_000
_ROUNDING = 1e-9


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust by Holm's method, in the order given."""
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = floor
    return adjusted


def step_down(columns: Sequence[Sequence[float]], p_values: Sequence[float]) -> list[float]:
    """Adjust by joint sign flips, in the order given.

    Each column has the differences of one test, one number per case and 0 where the test has none.
    `p_values` are those of the single tests; no adjusted p-value is smaller.
    """
    np = import_optional("numpy")
    scaled = _scale(columns)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(-observed, kind="stable")
    limits = observed[order] - _ROUNDING
    hits, flips = np.zeros(len(order)), 0
    for sums in _flip_sums(scaled):
        # Step down: the k-th largest statistic competes only with itself and the smaller ones.
        ordered = np.abs(sums[:, order])[:, ::-1]
        rivals = np.maximum.accumulate(ordered, axis=1)[:, ::-1]
        hits += (rivals >= limits).sum(axis=0)
        flips += len(sums)
    stepped = np.maximum.accumulate(hits / flips)
    adjusted = [1.0] * len(p_values)
    indices: list[int] = order.tolist()
    for position, index in enumerate(indices):
        adjusted[index] = max(float(stepped[position]), p_values[index])
    return adjusted


def _scale(columns: Sequence[Sequence[float]]) -> Any:
    """A matrix with a row for each case that differs in any test, and a column for each test.

    Divided by its norm, which no flip changes, every test has the same spread, so that a metric in
    seconds cannot drown one between 0 and 1. Column by column: of a million cases, most of which
    do not differ, no matrix of all is made.
    """
    np = import_optional("numpy")
    differs = np.zeros(len(columns[0]), dtype=bool)
    norms: list[float] = []
    for column in columns:
        differences = np.asarray(column, dtype=float)
        norms.append(float(np.sqrt(np.square(differences).sum())))
        differs |= differences != 0
    scaled = np.empty((int(differs.sum()), len(columns)))
    for number, (column, norm) in enumerate(zip(columns, norms, strict=True)):
        scaled[:, number] = np.asarray(column, dtype=float)[differs] / (norm if norm > 0 else 1.0)
    return scaled


def _flip_sums(scaled: Any) -> Iterator[Any]:
    """Yield the sums of all tests under joint sign flips, in batches; the first is unflipped."""
    np = import_optional("numpy")
    cases, tests = scaled.shape
    if cases <= EXACT:
        signs = np.arange(2**cases)[:, None] >> np.arange(cases) & 1
        yield (2 * signs - 1) @ scaled
        return
    # The observed combination counts as one of the sample, so that no p-value is zero.
    yield scaled.sum(axis=0)[None, :]
    source = np.random.RandomState(SEED)
    influence = np.argsort(-np.abs(scaled).max(axis=1), kind="stable")
    large, rest = scaled[influence[:DRAWN]], scaled[influence[DRAWN:]]
    spread = _square_root(rest.T @ rest)
    total, width = large.sum(axis=0), -(-len(large) // 8)
    for start in range(0, FLIPS, _BATCH):
        rows = min(_BATCH, FLIPS - start)
        raw = np.frombuffer(source.bytes(rows * width), np.uint8).reshape(rows, width)
        positive = np.unpackbits(raw, axis=1, count=len(large)).astype(float)
        # Each of the other cases counts for little, so their sum is approximately normal.
        yield 2 * (positive @ large) - total + source.standard_normal((rows, tests)) @ spread


def _square_root(covariance: Any) -> Any:
    """A matrix whose product with its transpose is the covariance, which may be singular."""
    np = import_optional("numpy")
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T
