"""The metrics of a run that names none: those that its data asks for."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from carob import plugins
from carob.api.running.plan import Profiles
from carob.api.settings import settings
from carob.config import Config
from carob.errors import UsageError
from carob.policy.profile import canonical_name, load_profiles
from carob.schema import Case
from carob.schema.assertion import stated_assertions
from carob.text.spelling import did_you_mean

_ADK_FORMATS = frozenset({"adk", "adk-history", "test"})
_ADK_METRICS = ("tool_trajectory_avg_score", "response_match_score")
"""The metrics that ADK runs if a config names none."""
_RUBRIC_METRIC = "rubric_based_final_response_quality_v1"


def _expects_calls(case: Case) -> bool:
    # An empty list is an expectation, too: no tool may be called.
    return case.tool_calls is not None or any(turn.tool_calls is not None for turn in case.turns)


def _expects_response(case: Case) -> bool:
    # The evals that a case requires judge its answer. Its reference answer is then often a JSON
    # document, in which text metrics would compare keys and braces.
    return case.metrics is None and any(turn.response for turn in case.turns)


def _is_example(case: Case) -> bool:
    # In a longer conversation, answers to messages such as "yes" share no words with them.
    return _expects_response(case) and _format_of(case) in ("examples", "csv")


def _expects_agents(case: Case) -> bool:
    # A row of Explain names the agent that wrote the answer, not agents that must take part.
    return bool(case.agents) and _format_of(case) != "explain"


_EXPECTATIONS: tuple[tuple[Callable[[Case], bool], tuple[str, ...]], ...] = (
    (_expects_calls, ("tool_usage_accuracy",)),
    (lambda case: bool(case.trajectory), ("trajectory_accuracy",)),
    (lambda case: bool(case.state), ("state_management_fidelity",)),
    (_expects_agents, ("agent_routing",)),
    (_is_example, ("relevance",)),
    (_expects_response, ("factuality", "completeness")),
    (lambda case: bool(case.contains), ("contains",)),
    (lambda case: bool(stated_assertions(case.reference)), ("assertions",)),
    (lambda case: case.contract is not None, ("contract",)),
)
"""What a case can expect, and the metrics that check it. Only metrics that decide."""


class ChosenMetrics(NamedTuple):
    """Metrics by the reason for which they were chosen."""

    by_reason: Mapping[str, Sequence[str]]

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics, each once."""
        return tuple(name for names in self.by_reason.values() for name in names)

    def __str__(self) -> str:
        parts = [f"{', '.join(names)} ({reason})" for reason, names in self.by_reason.items()]
        return f"metrics: {'; '.join(parts)}"


def add_default_metrics(
    config: Config,
    cases: Sequence[Case] | None,
    *,
    thresholds: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    contracts: Path | None = None,
) -> tuple[Config, ChosenMetrics | None]:
    """Return settings that have metrics, and which were chosen. Named metrics are never replaced:
    then nothing is chosen."""
    if config.metrics:
        return config, None
    known = frozenset(choice.name for choice in config.unrequested)
    profiles = Profiles(config.profile, load_profiles(config.profiles))
    chosen = choose_metrics(cases, profiles, known)
    completed = settings(
        config, metrics=chosen.names, thresholds=thresholds, params=params, contracts=contracts
    )
    return completed, chosen


def choose_metrics(
    cases: Sequence[Case] | None, profiles: Profiles, configured: Container[str] = ()
) -> ChosenMetrics:
    """Choose the metrics that cases ask for, in this order: the evals that they require, those of
    the profile, and those that check what they expect. ADK data gets ADK's metrics.

    `configured` are metrics that only the config knows. Raises `UsageError` for an unknown eval,
    and if nothing can be checked.
    """
    chosen = _ByReason()
    required: dict[str, Case] = {}
    for case in cases or ():
        for name in case.metrics or ():
            required.setdefault(name, case)
    for name, case in required.items():
        chosen.add("required by the cases", _find_eval(case, name, configured))
    _add_profiles(chosen, cases or (), profiles)
    _add_expectations(chosen, cases or ())
    if not chosen.names and any(case.rubrics for case in cases or ()):
        raise UsageError(
            "no metric chosen: the cases have rubrics, which only a judge can score",
            hint=f"name a judge: -m {_RUBRIC_METRIC} --judge PROVIDER:MODEL",
        )
    if not chosen.names and cases:
        hint = "name the metrics; `carob metrics` lists them"
        raise UsageError("no metric chosen: the cases expect nothing", hint=hint)
    if not chosen.names:
        for name in _ADK_METRICS:
            chosen.add("ADK's defaults", name)
    return ChosenMetrics(chosen.names)


class _ByReason:
    """Collects metrics, each under the first reason for it."""

    def __init__(self) -> None:
        self.names: dict[str, list[str]] = {}
        self._seen: set[str] = set()

    def add(self, reason: str, name: str) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self.names.setdefault(reason, []).append(name)


def _add_profiles(chosen: _ByReason, cases: Iterable[Case], profiles: Profiles) -> None:
    """Add the metrics of the profile for all cases, or else of the profiles that cases name. A case
    that requires evals has said which of its profile's metrics it needs."""
    selected = profiles.load_selected()
    named = profiles.named_by(case for case in cases if case.metrics is None and not selected)
    for profile in [selected] if selected else named.values():
        for name in profile.metrics:
            chosen.add(f"from the profile {profile.name}", name)


def _add_expectations(chosen: _ByReason, cases: Iterable[Case]) -> None:
    formats: set[str | None] = set()
    # An expectation that one case has is not looked for again: most datasets have only a few kinds,
    # and the first case shows them.
    pending, found = [*_EXPECTATIONS], set[str]()
    for case in cases:
        formats.add(format := _format_of(case))
        if format not in _ADK_FORMATS:
            for expectation in [*pending]:
                if expectation[0](case):
                    pending.remove(expectation)
                    found.update(expectation[1])
    if formats & _ADK_FORMATS:
        for metric in _ADK_METRICS:
            chosen.add("ADK's defaults", metric)
    names = " and ".join(sorted(name for name in formats - _ADK_FORMATS if name))
    reason = f"from the expectations of {names} data" if names else "from the expectations"
    for _, metrics in _EXPECTATIONS:
        for metric in metrics:
            if metric in found:
                chosen.add(reason, metric)


def _format_of(case: Case) -> str | None:
    return case.origin.format.partition(".")[0] if case.origin else None


def _find_eval(case: Case, name: str, configured: Container[str]) -> str:
    """Return the metric of an eval, under the name that it is installed or configured with."""
    for candidate in (name, canonical_name(name)):
        if candidate in configured or candidate in plugins.metrics():
            return candidate
    hint = did_you_mean(canonical_name(name), plugins.metrics()) or "`carob metrics` lists them"
    raise UsageError(f"unknown metric {name!r}", where=f"case {case.id!r}", hint=hint)
