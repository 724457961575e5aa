"""What is to be scored, decided completely before anything is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, cast

import msgspec
from msgspec import UNSET

from carob.metrics import (
    Asker,
    Judge,
    Ledger,
    Metric,
    Outcome,
    evaluate,
    judge_pair,
    parameters,
)
from carob.policy.profile import Profile, canonical
from carob.policy.verdict import Scored, case_status, judge, status
from carob.runner.pairing import Pair
from carob.schema import (
    Case,
    CaseResult,
    CaseScore,
    Exchange,
    Failed,
    Judgement,
    JudgeUse,
    MetricUse,
    Score,
    Spending,
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
    asker: Asker | None = None
    """Who answers, if the metric is a judge and one is configured."""

    def noun(self) -> MetricUse:
        return MetricUse(
            name=self.metric.name,
            version=self.metric.version,
            params=parameters(self.metric),
            threshold=self.threshold,
            scale=self.metric.scale,
            better=self.metric.better,
            judge=self._judge(self.asker) if self.asker else UNSET,
        )

    def _judge(self, asker: Asker) -> JudgeUse:
        made = cast("Judge", self.metric)
        return JudgeUse(
            model=asker.model, params=asker.params, prompt=made.prompt, rubric=made.rubric
        )


class Judged(NamedTuple):
    """The result of one pair, and what was asked for each metric that a judge scored."""

    result: CaseResult
    spending: Mapping[str, Spending]


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
        """Is there anybody to be asked?"""
        return any(use.asker for use in self.uses)

    def score(self, pair: Pair) -> CaseResult:
        """The outcomes of one pair, without anything to wait for."""
        case = pair.case or Case(id=pair.trace.id)
        return self._result(pair, [_scored(use, _offline(use, case, pair)) for use in self.uses])

    async def judge(self, pair: Pair) -> Judged:
        """The outcomes of one pair, some by judges, who are asked at the same time."""
        import asyncio  # takes longer than a small run without judges

        case = pair.case or Case(id=pair.trace.id)
        ledgers = [Ledger() for _ in self.uses]
        outcomes = await asyncio.gather(
            *[_outcome(*one, case, pair) for one in zip(self.uses, ledgers, strict=True)]
        )
        scores = [
            _recorded(use, _scored(use, outcome), ledger)
            for use, outcome, ledger in zip(self.uses, outcomes, ledgers, strict=True)
        ]
        spent = zip(self.uses, ledgers, strict=True)
        spending = {use.metric.name: ledger.spending() for use, ledger in spent if use.asker}
        return Judged(self._result(pair, scores), spending)

    async def close(self) -> None:
        """Nobody is asked any more."""
        for asker in {id(use.asker): use.asker for use in self.uses if use.asker}.values():
            await asker.close()

    def _result(self, pair: Pair, outcomes: Sequence[CaseScore]) -> CaseResult:
        case = pair.case or Case(id=pair.trace.id)
        scores = tuple(outcomes)
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


async def _outcome(use: Use, ledger: Ledger, case: Case, pair: Pair) -> Outcome:
    if use.asker and _asked_for(use.metric, case):
        return await judge_pair(use.metric, case, pair.trace, use.asker, ledger)
    return _offline(use, case, pair)


def _offline(use: Use, case: Case, pair: Pair) -> Outcome:
    if use.metric.judged and not _asked_for(use.metric, case):
        return Unscored(reason="the case does not ask for it")
    return evaluate(use.metric, case, pair.trace)


def _asked_for(metric: Metric, case: Case) -> bool:
    return case.metrics is None or canonical(metric.name) in map(canonical, case.metrics)


def _recorded(use: Use, score: CaseScore, ledger: Ledger) -> CaseScore:
    """The score with what it took, if anybody was asked."""
    if use.asker is None or not ledger.entries:
        return score
    return msgspec.structs.replace(score, asked=ledger.asked(use.asker.model))


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
    """What a profile weighs, it judges; the other metrics are held to their own thresholds. A
    metric that broke might have failed the case, so that nothing passes with it."""
    if profile is None or judgement is None:
        return case_status(scores)
    others = case_status([one for one in scores if not profile.weighs(one.metric)])
    if others == "failed" or not judgement.passed:
        return "failed"
    return "error" if any(one.status == "error" for one in scores) else "passed"


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
