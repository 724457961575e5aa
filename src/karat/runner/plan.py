"""What is to be scored, decided completely before anything is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from karat.metrics import Metric, Outcome, evaluate, judge_pair, parameters
from karat.policy.profile import Profile, canonical
from karat.policy.verdict import Scored, case_status, judge, status
from karat.runner.pairing import Pair
from karat.schema import (
    Case,
    CaseResult,
    CaseScore,
    Exchange,
    Failed,
    Judgement,
    MetricUse,
    Score,
    Status,
    Trace,
    Turn,
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
    """The metrics of a run and the profiles by which cases are judged."""

    uses: tuple[Use, ...]
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    """The profiles that cases name."""
    profile: Profile | None = None
    """The profile for all cases, whatever they name."""

    @property
    def judged(self) -> bool:
        """Does any metric ask a model?"""
        return any(use.metric.judged for use in self.uses)

    def score(self, pair: Pair) -> CaseResult:
        """The outcomes of one pair, by metrics that do not wait for anything."""
        case = pair.case or Case(id=pair.trace.id)
        return self._result(pair, [evaluate(use.metric, case, pair.trace) for use in self.uses])

    async def judge(self, pair: Pair) -> CaseResult:
        """The outcomes of one pair, some by judges, which are asked at the same time."""
        case = pair.case or Case(id=pair.trace.id)
        import asyncio  # takes longer than a small run without judges

        outcomes = await asyncio.gather(
            *[_outcome(use.metric, case, pair.trace) for use in self.uses]
        )
        return self._result(pair, outcomes)

    def _result(self, pair: Pair, outcomes: Sequence[Outcome]) -> CaseResult:
        case = pair.case or Case(id=pair.trace.id)
        scores = tuple([_scored(*both) for both in zip(self.uses, outcomes, strict=True)])
        profile = self.profile or (self.profiles[case.profile] if case.profile else None)
        judgement = self._judgement(profile, scores) if profile else None
        verdict = _status(scores, profile, judgement)
        return CaseResult(
            case=pair.case.id if pair.case else None,
            trace=pair.trace.id,
            status=verdict,
            scores=scores,
            paired_by=pair.how,
            judgement=judgement,
            exchanges=() if verdict == "passed" else _exchanges(case, pair.trace),
            mapper=pair.trace.mapper,
        )

    def _judgement(self, profile: Profile, scores: tuple[CaseScore, ...]) -> Judgement | None:
        """The profile's verdict, if anything was scored that it weighs."""
        values = {
            score.metric: Scored(value=score.value, scale=use.metric.scale)
            for use, score in zip(self.uses, scores, strict=True)
            if score.value is not None and profile.weighs(score.metric)
        }
        broken = any(one.metric == "contract" and one.status == "failed" for one in scores)
        return judge(profile, values, contract_broken=broken) if values or broken else None


async def _outcome(metric: Metric, case: Case, trace: Trace) -> Outcome:
    if not metric.judged:
        return evaluate(metric, case, trace)
    if case.metrics is not None and canonical(metric.name) not in map(canonical, case.metrics):
        return Unscored(reason="the case does not ask for it")
    return await judge_pair(metric, case, trace)


def _scored(use: Use, outcome: Outcome) -> CaseScore:
    verdict = status(outcome, use.threshold, use.metric.better)
    name, threshold = use.metric.name, use.threshold
    if isinstance(outcome, Score):
        return CaseScore(
            metric=name,
            status=verdict,
            value=outcome.value,
            threshold=threshold,
            reason=outcome.reason,
            turns=outcome.turns,
            details=outcome.details,
        )
    broken = isinstance(outcome, Failed)
    reason = f"{outcome.kind}: {outcome.message}" if broken else outcome.reason
    return CaseScore(metric=name, status=verdict, threshold=threshold, reason=reason)


def _status(
    scores: tuple[CaseScore, ...], profile: Profile | None, judgement: Judgement | None
) -> Status:
    """What a profile weighs, it judges; the other metrics are held to their own thresholds."""
    if profile is None or judgement is None:
        return case_status(scores)
    others = case_status([one for one in scores if not profile.weighs(one.metric)])
    if others in ("failed", "error"):
        return others
    return "passed" if judgement.passed else "failed"


def _exchanges(case: Case, trace: Trace) -> tuple[Exchange, ...]:
    nothing = Turn()
    return tuple(
        Exchange(
            user=golden.user if recorded.user is None else recorded.user,
            expected=golden.response,
            actual=recorded.response,
        )
        for golden, recorded in zip_longest(case.turns, trace.turns, fillvalue=nothing)
    )
