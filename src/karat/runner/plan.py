"""What is to be scored, decided completely before anything is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat.metrics import Metric, evaluate, parameters
from karat.policy.profile import Profile
from karat.policy.verdict import Scored, case_status, judge, status
from karat.runner.pairing import Pair
from karat.schema import (
    Case,
    CaseResult,
    CaseScore,
    Failed,
    Judgement,
    MetricUse,
    Score,
    Trace,
    Unscored,
)


@dataclass(frozen=True, kw_only=True)
class Use:
    """A metric and the threshold it is held to; without one it informs."""

    metric: Metric
    threshold: float | None

    def noun(self) -> MetricUse:
        return MetricUse(
            name=self.metric.name,
            version=self.metric.version,
            params=parameters(self.metric),
            threshold=self.threshold,
            scale=self.metric.scale,
            better=self.metric.better,
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The metrics of a run and the profiles that its cases name."""

    uses: tuple[Use, ...]
    profiles: Mapping[str, Profile]

    def score(self, pair: Pair) -> CaseResult:
        """The outcomes of one pair."""
        case = pair.case or Case(id=pair.trace.id)
        scores = tuple(self._score(use, case, pair.trace) for use in self.uses)
        judgement = self._judgement(case, scores)
        return CaseResult(
            case=pair.case.id if pair.case else None,
            trace=pair.trace.id,
            status=_judged(judgement) or case_status(scores),
            scores=scores,
            paired_by=pair.how,
            judgement=judgement,
        )

    def _score(self, use: Use, case: Case, trace: Trace) -> CaseScore:
        outcome = evaluate(use.metric, case, trace)
        verdict = status(outcome, use.threshold, use.metric.better)
        name, threshold = use.metric.name, use.threshold
        match outcome:
            case Score(value=value, reason=reason, turns=turns, details=details):
                return CaseScore(name, verdict, value, threshold, reason, turns, details)
            case Unscored(reason=reason):
                return CaseScore(name, verdict, None, threshold, reason)
            case Failed(kind=kind, message=message):
                return CaseScore(name, verdict, None, threshold, f"{kind}: {message}")

    def _judgement(self, case: Case, scores: tuple[CaseScore, ...]) -> Judgement | None:
        profile = self.profiles.get(case.profile) if case.profile else None
        if profile is None:
            return None
        named = zip(self.uses, scores, strict=True)
        values = {
            score.metric: Scored(value=score.value, scale=use.metric.scale)
            for use, score in named
            if score.value is not None
        }
        if not any(profile.weighs(name) for name in values):
            return None
        broken = any(one.metric == "contract" and one.status == "failed" for one in scores)
        return judge(profile, values, contract_broken=broken)


def _judged(judgement: Judgement | None) -> str | None:
    return None
