"""Scoring profiles, built in and from files of the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from carob.config.config_file import ConfigDocument, parse_document, read_document
from carob.config.table_reader import Table
from carob.errors import FormatError, UsageError
from carob.schema import Struct
from carob.text.spelling import did_you_mean

ClosedScale: TypeAlias = tuple[float, float]


class MetricRequirement(Struct, frozen=True):
    """Threshold and weight of a metric in a profile."""

    threshold: float
    weight: float


class HardFail(Struct, frozen=True):
    """Conditions that fail a case regardless of its other scores."""

    below: float | None = None
    metrics: tuple[str, ...] = ()
    """Metrics that must not score below the limit."""
    contract: bool = False
    """Whether a violated contract fails the case."""


class Profile(Struct, frozen=True):
    """Thresholds and weights that turn the scores of a case into a verdict.

    All numbers are on the scale of the profile.
    """

    name: str
    scale: ClosedScale
    composite: float
    metrics: dict[str, MetricRequirement]
    hard_fail: HardFail = HardFail()

    def weighs(self, name: str) -> bool:
        """Tell whether the profile includes the metric."""
        return canonical_name(name) in self.metrics


def canonical_name(name: str) -> str:
    """Strip the suffix of the Explain evals: `RelevanceExplain` scores `Relevance`."""
    return name.removesuffix("Explain") or name


def load_profile(name_or_path: str) -> Profile:
    """Load a built-in profile by name, or a profile from a TOML or JSON file."""
    path = Path(name_or_path)
    if name_or_path in builtin_profiles() or not (
        path.suffix in (".toml", ".json") or path.is_file()
    ):
        return find_profile(name_or_path, {})
    return _parse_profile(read_document(path), path.stem)


def find_profile(name: str, own: Mapping[str, Profile]) -> Profile:
    """Find a profile of the user or a built-in one by name.

    The name may come from data, so it is never treated as a path.
    """
    profile = own.get(name) or builtin_profiles().get(name)
    if profile is None:
        known = sorted({*own, *builtin_profiles()})
        hint = (
            did_you_mean(name, known) or f"known: {', '.join(known)}, or the path of a profile file"
        )
        raise UsageError(f"unknown profile {name!r}", hint=hint)
    return profile


def load_profiles(paths: Iterable[str]) -> dict[str, Profile]:
    """Load profiles from files, by name. Raises `UsageError` for duplicate names."""
    own: dict[str, Profile] = {}
    for path in paths:
        profile = load_profile(path)
        if profile.name in own:
            raise UsageError(f"duplicate profile {profile.name!r}, defined in two files")
        own[profile.name] = profile
    return own


@cache
def builtin_profiles() -> Mapping[str, Profile]:
    """Load the profiles that come with Carob."""
    from importlib import resources  # late: slower to import than the rest of the module

    profiles: dict[str, Profile] = {}
    folder = resources.files("carob.policy") / "profiles"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        document = parse_document(file.read_text("utf-8"), source=file.name)
        profile = _parse_profile(document, file.name)
        profiles[profile.name] = profile
    return profiles


def _parse_profile(document: ConfigDocument, stem: str) -> Profile:
    table = Table(document, document.value)
    name, scale = table.text("name") or stem, table.numbers("scale")
    composite, metrics = table.number("composite"), table.table("metrics")
    hard = table.table("hard_fail")
    table.close()
    low, high = _parse_scale(table, scale)
    if composite is None or metrics is None:
        raise table.missing("composite" if composite is None else "metrics")
    _check_on_scale(table, "composite", composite, (low, high))
    requirements = _parse_requirements(table, metrics, (low, high))
    return Profile(
        name=name,
        scale=(low, high),
        composite=composite,
        metrics=requirements,
        hard_fail=_parse_hard_fail(hard, requirements, (low, high)) if hard else HardFail(),
    )


def _parse_scale(table: Table, scale: tuple[float, ...]) -> ClosedScale:
    if not scale:
        raise table.missing("scale")
    if len(scale) != 2 or scale[0] >= scale[1]:
        hint = "for scores from 1 to 5 write [1, 5]"
        shown = list(scale)
        raise table.error("scale", f"expected the lowest and highest value, got {shown}", hint=hint)
    return scale[0], scale[1]


def _parse_requirements(
    table: Table, metrics: Table, scale: ClosedScale
) -> dict[str, MetricRequirement]:
    requirements: dict[str, MetricRequirement] = {}
    for name, entry in metrics.tables():
        if canonical_name(name) in requirements:
            raise metrics.error(name, f"duplicate metric {canonical_name(name)!r}")
        requirements[canonical_name(name)] = _parse_requirement(entry, scale)
    if not sum(requirement.weight for requirement in requirements.values()):
        raise table.error("metrics", "no metric has a weight")
    return requirements


def _parse_requirement(table: Table, scale: ClosedScale) -> MetricRequirement:
    threshold, weight = table.number("threshold"), table.number("weight")
    table.close()
    if threshold is None or weight is None:
        raise table.missing("threshold" if threshold is None else "weight")
    _check_on_scale(table, "threshold", threshold, scale)
    if weight < 0:
        raise table.error("weight", f"expected 0 or more, got {weight:g}")
    return MetricRequirement(threshold=threshold, weight=weight)


def _parse_hard_fail(
    table: Table, requirements: Mapping[str, MetricRequirement], scale: ClosedScale
) -> HardFail:
    below, names = table.number("below"), table.texts("metrics")
    contract = table.flag("contract")
    table.close()
    if below is None and names:
        raise table.missing("below")
    if below is not None:
        _check_on_scale(table, "below", below, scale)
    for name in names:
        if canonical_name(name) not in requirements:
            raise _unknown_metric(table, name, requirements)
    metrics = tuple(map(canonical_name, names))
    return HardFail(below=below, metrics=metrics, contract=bool(contract))


def _unknown_metric(
    table: Table, name: str, requirements: Mapping[str, MetricRequirement]
) -> FormatError:
    hint = did_you_mean(name, requirements) or f"metrics of the profile: {', '.join(requirements)}"
    return table.error("metrics", f"{name!r} is not a metric of the profile", hint=hint)


def _check_on_scale(table: Table, name: str, value: float, scale: ClosedScale) -> None:
    if not scale[0] <= value <= scale[1]:
        message = f"{value:g} is not on the scale from {scale[0]:g} to {scale[1]:g}"
        raise table.error(name, message)
