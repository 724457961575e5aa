"""Runs of a judge and human labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET

from carob.schema import (
    CaseCounts,
    CaseResult,
    CaseScore,
    Json,
    JudgeSpec,
    Label,
    LabelValue,
    MetricSpec,
    Run,
    RunSummary,
)

Outcome = float | Literal["unscored", "error"]


def judge(
    model: str = "local:judge",
    prompt: str = "sha256:prompt",
    rubric: str = "sha256:rubric",
    params: dict[str, Json] | None = None,
) -> JudgeSpec:
    return JudgeSpec(model=model, params=params or {}, prompt=prompt, rubric=rubric)


def metric(
    name: str = "tone",
    *,
    by: JudgeSpec | None = judge(),  # noqa: B008 - frozen
    threshold: float | None = 4.0,
    scale: tuple[float, float | None] = (1.0, 5.0),
    better: Literal["higher", "lower"] = "higher",
    version: int = 1,
    params: dict[str, Json] | None = None,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        version=version,
        params=params or {},
        threshold=threshold,
        scale=scale,
        better=better,
        judge=by or UNSET,
    )


def judged(
    cases: Mapping[str, Outcome | list[Outcome]], use: MetricSpec | None = None, *others: MetricSpec
) -> Run:
    """A run with one trace per case, `t-CASE`, or several: `t-CASE-0`, `t-CASE-1`, …."""
    chosen = use or metric()
    results: list[CaseResult] = []
    for case, outcome in cases.items():
        if not isinstance(outcome, list):
            results.append(_result(case, f"t-{case}", outcome, chosen))
            continue
        for number, attempt in enumerate(outcome):
            results.append(_result(case, f"t-{case}-{number}", attempt, chosen))
    return Run(
        id="run-judged",
        created_at="2026-03-02T10:00:00Z",
        verdict="failed",
        dataset=None,
        metrics=(chosen, *others),
        cases=tuple(results),
        summary=RunSummary(cases=CaseCounts(), metrics={}),
    )


def _result(case: str, trace: str, outcome: Outcome, use: MetricSpec) -> CaseResult:
    value = None if isinstance(outcome, str) else float(outcome)
    status = outcome if isinstance(outcome, str) else _status(outcome, use)
    score = CaseScore(
        metric=use.name,
        status=status,
        value=value,
        threshold=use.threshold,
        reason=f"because of {case}",
    )
    return CaseResult(case=case, trace=trace, status=status, scores=(score,))


def _status(value: float, use: MetricSpec) -> Literal["passed", "failed"]:
    least = 0.0 if use.threshold is None else use.threshold
    good = value >= least if use.better == "higher" else value <= least
    return "passed" if good else "failed"


def label(case: str, opinion: LabelValue, **more: str) -> Label:
    return Label(case=case, label=opinion, where=more.pop("where", "labels.csv line 2"), **more)


def labels(opinions: Mapping[str, LabelValue]) -> list[Label]:
    return [label(case, opinion) for case, opinion in opinions.items()]
