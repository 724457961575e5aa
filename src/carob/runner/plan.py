"""The plan of a run: its metrics and profiles, resolved before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, cast

import msgspec
from msgspec import UNSET

from carob.metrics import (
    Judge,
    JudgeClient,
    Ledger,
    Metric,
    Outcome,
    evaluate,
    judge_pair,
    metric_parameters,
)
from carob.policy.profile import Profile, canonical_name
from carob.policy.verdict import ScaledScore, apply_profile, hold_back, score_status
from carob.runner.pairing import Pair
from carob.schema import (
    Case,
    CaseResult,
    CaseScore,
    Exchange,
    Failed,
    JudgeSpec,
    JudgeUsage,
    MetricSpec,
    ProfileVerdict,
    Score,
    Status,
    Trace,
    Turn,
    Unscored,
)
from carob.schema.status import case_status


@dataclass(frozen=True, kw_only=True)
class PlannedMetric:
    """A metric with its threshold. Without a threshold it is informational."""

    metric: Metric
    threshold: float | None
    client: JudgeClient | None = None
    """Answers the questions of a judge. `None` for other metrics, and without a judge model."""

    def to_spec(self) -> MetricSpec:
        """Return the description of the metric that a run records."""
        return MetricSpec(
            name=self.metric.name,
            version=self.metric.version,
            params=metric_parameters(self.metric),
            threshold=self.threshold,
            scale=self.metric.scale,
            better=self.metric.better,
            judge=self._judge_spec(self.client) if self.client else UNSET,
        )

    def _judge_spec(self, client: JudgeClient) -> JudgeSpec:
        judge = cast("Judge", self.metric)
        return JudgeSpec(
            model=client.model, params=client.params, prompt=judge.prompt, rubric=judge.rubric
        )

    def score(self, case: Case, trace: Trace) -> Outcome:
        """Score without asking a judge."""
        if self.metric.judged and not self._applies_to(case):
            return Unscored(reason=_NOT_REQUESTED, not_applicable=True)
        return evaluate(self.metric, case, trace)

    async def score_with_judge(self, case: Case, trace: Trace, ledger: Ledger) -> Outcome:
        """Score, and ask the judge if the metric has one."""
        if self.client and self._applies_to(case):
            return await judge_pair(self.metric, case, trace, self.client, ledger)
        if self.metric.waits:
            from asyncio import to_thread  # late, as above

            return await to_thread(self.score, case, trace)
        return self.score(case, trace)

    def _applies_to(self, case: Case) -> bool:
        """Return whether the case names the metric. A case that names none takes all."""
        if case.metrics is None:
            return True
        return canonical_name(self.metric.name) in map(canonical_name, case.metrics)


_NOT_REQUESTED = "not among the metrics of this case"


class JudgedResult(NamedTuple):
    """The result of one pair, and the judge usage of each judge metric."""

    result: CaseResult
    usage: Mapping[str, JudgeUsage]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The metrics of a run and the profiles that decide about cases."""

    metrics: tuple[PlannedMetric, ...]
    profiles: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    """The profiles that cases name."""
    profile: Profile | None = None
    """The profile for all cases, which overrides those that cases name."""

    @property
    def judged(self) -> bool:
        """Whether any metric asks a judge."""
        return any(planned.client for planned in self.metrics)

    @property
    def waits(self) -> bool:
        """Whether any metric waits for a judge or a process, so that pairs are scored
        concurrently."""
        return self.judged or any(planned.metric.waits for planned in self.metrics)

    @property
    def specs(self) -> tuple[MetricSpec, ...]:
        """The metrics as a run records them."""
        return tuple(planned.to_spec() for planned in self.metrics)

    def score(self, pair: Pair) -> CaseResult:
        """Score one pair without judges."""
        if pair.trace.failure:
            return self._fail_result(pair, pair.trace.failure)
        case = pair.case or Case(id=pair.trace.id)
        return self._result(
            pair,
            [_case_score(planned, planned.score(case, pair.trace)) for planned in self.metrics],
        )

    async def score_with_judges(self, pair: Pair) -> JudgedResult:
        """Score one pair, asking its judges concurrently."""
        import asyncio  # late: slower to import than a small run without judges

        if pair.trace.failure:
            return JudgedResult(self._fail_result(pair, pair.trace.failure), {})
        case = pair.case or Case(id=pair.trace.id)
        entries = [(planned, Ledger()) for planned in self.metrics]
        outcomes = await asyncio.gather(
            *[planned.score_with_judge(case, pair.trace, ledger) for planned, ledger in entries]
        )
        scores = [
            _with_cost(planned, _case_score(planned, outcome), ledger)
            for (planned, ledger), outcome in zip(entries, outcomes, strict=True)
        ]
        usage = {
            planned.metric.name: ledger.judge_usage()
            for planned, ledger in entries
            if planned.client
        }
        return JudgedResult(self._result(pair, scores), usage)

    async def close(self) -> None:
        """Close the connections of all judges. Metrics may share a client."""
        clients = {id(planned.client): planned.client for planned in self.metrics}
        for client in clients.values():
            if client:
                await client.close()
        for planned in self.metrics:
            if planned.metric.waits:
                planned.metric.close()

    def _fail_result(self, pair: Pair, failure: Failed) -> CaseResult:
        """Return the result of a conversation that broke off: no metric may call that a 0."""
        return self._result(pair, [_case_score(planned, failure) for planned in self.metrics])

    def _result(self, pair: Pair, outcomes: Sequence[CaseScore]) -> CaseResult:
        case = pair.case or Case(id=pair.trace.id)
        scores = tuple(outcomes)
        profile = self._deciding_profile(case)
        judgement = self._profile_verdict(profile, scores) if profile else None
        status = case_status(scores, judgement, profile.weighs if profile else None)
        if profile and judgement:
            judgement = hold_back(judgement, profile, scores)
        return CaseResult(
            case=pair.case.id if pair.case else None,
            trace=pair.trace.id,
            status=status,
            scores=scores,
            paired_by=pair.reason,
            judgement=judgement,
            exchanges=() if status in ("passed", "info") else _exchanges(case, pair.trace),
            mapper=pair.trace.mapper,
        )

    def status_without_scores(self, case: Case) -> Status:
        """Return the status of a case that nothing was scored for: unscored if anything was to
        decide about it."""
        thresholds = any(planned.threshold is not None for planned in self.metrics)
        return "unscored" if thresholds or self._deciding_profile(case) else "info"

    def _deciding_profile(self, case: Case) -> Profile | None:
        """Return the profile for all cases, or the one that the case names if it concerns a metric
        of the run. `-m latency` asks for no verdict, whatever profile the cases name."""
        if self.profile or not case.profile:
            return self.profile
        profile = self.profiles[case.profile]
        names = [planned.metric.name for planned in self.metrics]
        by_contract = profile.hard_fail.contract and "contract" in names
        return profile if by_contract or any(map(profile.weighs, names)) else None

    def _profile_verdict(
        self, profile: Profile, scores: tuple[CaseScore, ...]
    ) -> ProfileVerdict | None:
        """Apply the profile, if any of the metrics that it weighs scored."""
        values = {
            score.metric: ScaledScore(value=score.value, scale=planned.metric.scale)
            for planned, score in zip(self.metrics, scores, strict=True)
            if score.value is not None and profile.weighs(score.metric)
        }
        broken = any(score.metric == "contract" and score.status == "failed" for score in scores)
        return apply_profile(profile, values, contract_broken=broken) if values or broken else None


def _with_cost(planned: PlannedMetric, score: CaseScore, ledger: Ledger) -> CaseScore:
    """Add what the score cost, if a judge was asked."""
    if planned.client is None or not ledger.entries:
        return score
    return msgspec.structs.replace(score, judge_cost=ledger.judge_cost(planned.client.model))


def _case_score(planned: PlannedMetric, outcome: Outcome) -> CaseScore:
    status = score_status(outcome, planned.threshold, planned.metric.better)
    name, threshold = planned.metric.name, planned.threshold
    if isinstance(outcome, Score):
        return CaseScore(
            metric=name,
            status=status,
            value=outcome.value,
            threshold=threshold,
            reason=outcome.reason,
            turns=outcome.turns,
            details=outcome.details,
        )
    if isinstance(outcome, Failed):
        reason = f"{outcome.kind}: {outcome.message}"
        return CaseScore(metric=name, status=status, threshold=threshold, reason=reason)
    return CaseScore(
        metric=name,
        status=status,
        threshold=threshold,
        reason=outcome.reason,
        not_applicable=True if outcome.not_applicable else UNSET,
    )


def _exchanges(case: Case, trace: Trace) -> tuple[Exchange, ...]:
    """Put golden and actual turns side by side, also where one has more turns than the other."""
    return tuple(
        Exchange(
            user=golden.user if actual.user is None else actual.user,
            expected=golden.response,
            actual=actual.response,
        )
        for golden, actual in zip_longest(case.turns, trace.turns, fillvalue=Turn())
    )
