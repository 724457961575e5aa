from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import pytest

from carob.schema import (
    CaseCounts,
    CaseResult,
    CaseScore,
    MetricSpec,
    Run,
    RunDataset,
    RunSummary,
    Status,
)
from carob.schema.status import case_status

Attempts = Sequence[float | None]


class MakeRun(Protocol):
    def __call__(
        self,
        cases: Mapping[str, float | Attempts | None],
        *,
        id: str = "run-a",
        threshold: float | None = 0.5,
        better: Literal["higher", "lower"] = "higher",
        scale: tuple[float, float | None] = (0.0, 1.0),
        version: int = 1,
        digests: Mapping[str, str] = {},
        dataset: str | None = None,
        mapper: str = "genai@1",
    ) -> Run: ...


def _status(value: float | None, threshold: float | None, better: str) -> Status:
    if value is None:
        return "unscored"
    if threshold is None:
        return "info"
    good = value >= threshold if better == "higher" else value <= threshold
    return "passed" if good else "failed"


def _make(
    cases: Mapping[str, float | Attempts | None],
    *,
    id: str = "run-a",
    threshold: float | None = 0.5,
    better: Literal["higher", "lower"] = "higher",
    scale: tuple[float, float | None] = (0.0, 1.0),
    version: int = 1,
    digests: Mapping[str, str] = {},
    dataset: str | None = None,
    mapper: str = "genai@1",
) -> Run:
    results: list[CaseResult] = []
    for case, outcome in cases.items():
        for value in outcome if isinstance(outcome, Sequence) else [outcome]:
            status = _status(value, threshold, better)
            score = CaseScore(metric="recall", status=status, value=value, threshold=threshold)
            digest = digests.get(case, f"sha256:{case}")
            results.append(
                CaseResult(
                    case=case,
                    trace=f"{id}-{case}",
                    status=case_status([score]),
                    scores=(score,),
                    digest=digest,
                    mapper=mapper,
                )
            )
    use = MetricSpec(
        name="recall",
        version=version,
        params={},
        threshold=threshold,
        scale=scale,
        better=better,
    )
    return Run(
        id=id,
        created_at="2026-03-02T10:00:00Z",
        verdict="informational" if threshold is None else "failed",
        dataset=RunDataset("support", None, dataset, "adk") if dataset else None,
        metrics=(use,),
        cases=tuple(results),
        summary=RunSummary(cases=CaseCounts(), metrics={}),
    )


@pytest.fixture
def run() -> MakeRun:
    """Builds a run of one metric from the values of its cases; a list means several attempts."""
    return _make
