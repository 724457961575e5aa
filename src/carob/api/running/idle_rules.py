"""Rules that were asked for and decide nothing: a case that passes would pass without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.metrics import Metric
from carob.policy.profile import Profile
from carob.runner.plan import Plan, PlannedMetric
from carob.schema import Problem


def find_idle_rules(plan: Plan) -> Iterator[Problem]:
    """Yield a warning for each rule of a plan that decides nothing."""
    for planned in plan.metrics:
        if planned.threshold is not None and planned.threshold == _worst_score(planned.metric):
            yield _describe_idle_threshold(planned)
    if plan.profile and not _decides(plan.profile, plan.metrics):
        yield _describe_idle_profile(plan.profile)


def _decides(profile: Profile, metrics: Iterable[PlannedMetric]) -> bool:
    names = [planned.metric.name for planned in metrics]
    return any(map(profile.weighs, names)) or (profile.hard_fail.contract and "contract" in names)


def _describe_idle_profile(profile: Profile) -> Problem:
    message = f"the profile {profile.name} decides nothing: no metric of the run is part of it"
    hint = f"its metrics: {', '.join(profile.metrics)}"
    return Problem(where="", message=message, hint=hint, severity="warning")


def _worst_score(metric: Metric) -> float | None:
    low, high = metric.scale
    return low if metric.better == "higher" else high


def _describe_idle_threshold(planned: PlannedMetric) -> Problem:
    name, threshold = planned.metric.name, planned.threshold
    message = f"every score of {name} reaches the threshold {threshold:g}, which decides nothing"
    return Problem(where="", message=message, severity="warning")
