"""Simulated runs of two agents with a known difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from carob.files.spool import Spool
from carob.schema import (
    CaseCounts,
    CaseResult,
    CaseScore,
    MetricSpec,
    Run,
    RunSummary,
    Status,
)
from carob.schema.codec import RESULTS

Kind = Literal["pass", "score", "seconds"]
_THRESHOLDS = {"pass": 1.0, "score": 0.7, "seconds": 8.0}


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Two agents on the same cases: some cases are harder for both, and the rest is chance."""

    cases: int
    metrics: tuple[Kind, ...]
    attempts: tuple[int, int] = (1, 1)
    pass_rate: float = 0.8
    drop: float = 0.0
    """By how much the second agent is worse in every metric."""

    def runs(self, seed: int) -> tuple[Run, Run]:
        """One run of each."""
        random = Random(seed)  # noqa: S311 - not a secret
        easy, hard = 5 * self.pass_rate, 5 * (1 - self.pass_rate)
        ease = [random.betavariate(easy, hard) for _ in range(self.cases)]
        before = self._run("before", self._results(random, ease, self.attempts[0], 0.0))
        return before, self._run("after", self._results(random, ease, self.attempts[1], self.drop))

    def _results(
        self, random: Random, ease: Sequence[float], attempts: int, drop: float
    ) -> Iterator[CaseResult]:
        for place, chance in enumerate(ease):
            for _ in range(attempts):
                yield self._result(random, place, chance, drop)

    def _result(self, random: Random, place: int, ease: float, drop: float) -> CaseResult:
        scores = tuple(
            _score(f"{kind}_{number}", kind, _value(random, kind, ease, drop))
            for number, kind in enumerate(self.metrics)
        )
        failed = any(score.status == "failed" for score in scores)
        return CaseResult(
            case=f"case-{place}",
            trace="trace",
            status="failed" if failed else "passed",
            scores=scores,
            digest=f"sha256:{place:064x}",
        )

    def _run(self, id: str, results: Iterable[CaseResult]) -> Run:
        cases = Spool(RESULTS)  # a million of them are in a file, as those of a run are
        cases.extend(results)
        return Run(
            id=id,
            created_at="2026-03-02T10:00:00Z",
            verdict="failed",
            dataset=None,
            metrics=tuple(_use(f"{kind}_{n}", kind) for n, kind in enumerate(self.metrics)),
            cases=cases.finish(),
            summary=RunSummary(cases=CaseCounts(), metrics={}),
        )


def _use(name: str, kind: Kind) -> MetricSpec:
    return MetricSpec(
        name=name,
        version=1,
        params={},
        threshold=_THRESHOLDS[kind],
        scale=(0.0, None) if kind == "seconds" else (0.0, 1.0),
        better="lower" if kind == "seconds" else "higher",
    )


def _value(random: Random, kind: Kind, ease: float, drop: float) -> float:
    if kind == "pass":
        return float(random.random() < ease - drop)
    if kind == "score":
        return max(0.0, random.betavariate(8 * ease + 0.2, 8 * (1 - ease) + 0.2) - drop)
    return random.lognormvariate(0.5, 0.8) / ease + drop


def _score(name: str, kind: Kind, value: float) -> CaseScore:
    threshold = _THRESHOLDS[kind]
    good = value <= threshold if kind == "seconds" else value >= threshold
    status: Status = "passed" if good else "failed"
    return CaseScore(metric=name, status=status, value=value, threshold=threshold)
