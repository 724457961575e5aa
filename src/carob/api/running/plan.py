"""Resolve the metrics and profiles of a run before anything is scored."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from carob import plugins
from carob.api.metrics import build_metric
from carob.config import Config, MetricChoice
from carob.errors import UsageError
from carob.judges.pool import JudgePool
from carob.metrics import check_packages
from carob.policy.profile import Profile, canonical_name, find_profile, load_profile, load_profiles
from carob.policy.verdict import check_scales
from carob.runner.plan import Plan, PlannedMetric
from carob.schema import Case, Dataset
from carob.schema.outcome import check_threshold


def plan_run(
    settings: Config, dataset: Dataset | None, judges: JudgePool, from_data: Container[str] = ()
) -> Plan:
    """Return the plan of a run. Raises `UsageError` for unknown names and invalid parameters, and
    for judges without a model. Judges `from_data` need none: nobody named them."""
    profiles = Profiles(settings.profile, load_profiles(settings.profiles))
    return make_plan(settings.metrics, dataset, profiles, judges, from_data)


class Profiles(NamedTuple):
    """The scoring profiles of a run: one for all cases, or those that cases name."""

    selected: str | None = None
    """Name or file of the profile for all cases."""
    own: Mapping[str, Profile] = {}
    """Profiles from the user's files, by name."""

    def load_selected(self) -> Profile | None:
        """Return the profile for all cases, if there is one."""
        if self.selected is None:
            return None
        return self.own.get(self.selected) or load_profile(self.selected)

    def named_by(self, cases: Iterable[Case]) -> dict[str, Profile]:
        """Return the profiles that the cases name, sorted, because they are part of the digest
        that names the journal."""
        profiles: dict[str, Profile] = {}
        for case in cases:
            if case.profile and case.profile not in profiles:
                profiles[case.profile] = self._find(case, case.profile)
        return {name: profiles[name] for name in sorted(profiles)}

    def _find(self, case: Case, name: str) -> Profile:
        try:
            return find_profile(name, self.own)
        except UsageError as error:
            where = f"case {case.id!r}"
            raise UsageError(error.message, where=where, hint=error.hint) from error


def make_plan(
    choices: Sequence[MetricChoice],
    dataset: Dataset | None,
    profiles: Profiles,
    judges: JudgePool,
    from_data: Container[str] = (),
) -> Plan:
    """Build the metrics and load the profiles."""
    installed = plugins.metrics()
    names = [canonical_name(choice.name) for choice in choices]
    check_packages(installed[name] for name in names if name in installed)
    metrics = tuple(_plan_metric(choice, judges) for choice in choices)
    selected = profiles.load_selected()
    by_name = {} if selected or not dataset else profiles.named_by(dataset.cases)
    for profile in [selected] if selected else by_name.values():
        check_scales(profile, [planned.to_spec() for planned in metrics])
    _check_judges(metrics, selected, from_data)
    return Plan(metrics=metrics, profiles=by_name, profile=selected)


def _check_judges(
    metrics: Iterable[PlannedMetric], selected: Profile | None, from_data: Container[str]
) -> None:
    """Raise `UsageError` if a judge that was asked for has no model: every case would be unscored,
    after the whole run. Judges that only golden rows require leave their cases unscored."""
    missing = [
        planned.metric.name
        for planned in metrics
        if planned.metric.judged
        and planned.client is None
        and (
            planned.metric.name not in from_data
            or (selected is not None and selected.weighs(planned.metric.name))
        )
    ]
    if missing:
        hint = "name a model with --judge PROVIDER:MODEL, or as `judge` in carob.toml"
        raise UsageError(f"no judge is configured for {', '.join(missing)}", hint=hint)


def _plan_metric(choice: MetricChoice, judges: JudgePool) -> PlannedMetric:
    metric = build_metric(choice)
    threshold = metric.threshold if choice.threshold is None else choice.threshold
    if threshold is not None:
        check_threshold(metric.name, threshold, metric.scale)
    return PlannedMetric(metric=metric, threshold=threshold, client=judges.client_for(metric))
