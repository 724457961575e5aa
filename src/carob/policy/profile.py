"""Scoring profiles, which are files. Those that ship with Carob are too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from carob.config.document import Document, parse, read
from carob.config.table import Table
from carob.errors import FormatError, UsageError
from carob.schema import Struct
from carob.text.spelling import did_you_mean

ClosedScale: TypeAlias = tuple[float, float]


class MetricRequirement(Struct, frozen=True):
    """What a profile demands of a metric, and how much the metric counts."""

    threshold: float
    weight: float


class HardFail(Struct, frozen=True):
    """What fails a case whatever else it scores."""

    below: float | None = None
    metrics: tuple[str, ...] = ()
    """The metrics that must not be below the limit."""
    contract: bool = False
    """Whether the answer must keep its contract."""


class Profile(Struct, frozen=True):
    """How the scores of a case become a verdict. All its numbers are on its own scale."""

    name: str
    scale: ClosedScale
    composite: float
    metrics: dict[str, MetricRequirement]
    hard_fail: HardFail = HardFail()

    def weighs(self, name: str) -> bool:
        """Does the metric count?"""
        return canonical_name(name) in self.metrics


def canonical_name(name: str) -> str:
    """`RelevanceExplain` is the eval that scores `Relevance`."""
    return name.removesuffix("Explain") or name


def load_profile(name_or_path: str) -> Profile:
    """A profile that ships with Carob, by name, or one in a TOML or JSON file."""
    path = Path(name_or_path)
    if name_or_path in builtin_profiles() or not (
        path.suffix in (".toml", ".json") or path.is_file()
    ):
        return find_profile(name_or_path, {})
    return _profile(read(path), path.stem)


def find_profile(name: str, own: Mapping[str, Profile]) -> Profile:
    """One of the user's own profiles, or one that ships with Carob. The name may come from data, so
    it is never taken for a path."""
    profile = own.get(name) or builtin_profiles().get(name)
    if profile is None:
        known = sorted({*own, *builtin_profiles()})
        hint = did_you_mean(name, known) or f"known: {', '.join(known)}; your own is a file"
        raise UsageError(f"unknown profile {name!r}", hint=hint)
    return profile


def load_profiles(paths: Iterable[str]) -> dict[str, Profile]:
    """The profiles in the user's own files, by name."""
    own: dict[str, Profile] = {}
    for path in paths:
        profile = load_profile(path)
        if profile.name in own:
            raise UsageError(f"two files have a profile {profile.name!r}")
        own[profile.name] = profile
    return own


@cache
def builtin_profiles() -> Mapping[str, Profile]:
    """The profiles that come with Carob."""
    from importlib import resources  # late: it takes longer than all the rest of the module

    made: dict[str, Profile] = {}
    folder = resources.files("carob.policy") / "profiles"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        profile = _profile(parse(file.read_text("utf-8"), source=file.name), file.name)
        made[profile.name] = profile
    return made


def _profile(document: Document, stem: str) -> Profile:
    table = Table(document, document.value)
    name, scale = table.text("name") or stem, table.numbers("scale")
    composite, metrics = table.number("composite"), table.table("metrics")
    hard = table.table("hard_fail")
    table.close()
    low, high = _scale(table, scale)
    if composite is None or metrics is None:
        raise table.missing("composite" if composite is None else "metrics")
    _check_on(table, "composite", composite, (low, high))
    demands = _demands(table, metrics, (low, high))
    return Profile(
        name=name,
        scale=(low, high),
        composite=composite,
        metrics=demands,
        hard_fail=_hard_fail(hard, demands, (low, high)) if hard else HardFail(),
    )


def _scale(table: Table, scale: tuple[float, ...]) -> ClosedScale:
    if not scale:
        raise table.missing("scale")
    if len(scale) != 2 or scale[0] >= scale[1]:
        hint = "for scores from 1 to 5 write [1, 5]"
        shown = list(scale)
        raise table.error("scale", f"expected the lowest and the highest, got {shown}", hint=hint)
    return scale[0], scale[1]


def _demands(table: Table, metrics: Table, scale: ClosedScale) -> dict[str, MetricRequirement]:
    made: dict[str, MetricRequirement] = {}
    for name, one in metrics.tables():
        if canonical_name(name) in made:
            raise metrics.error(name, f"metric {canonical_name(name)!r} is there twice")
        made[canonical_name(name)] = _demand(one, scale)
    if not sum(demand.weight for demand in made.values()):
        raise table.error("metrics", "no metric has a weight")
    return made


def _demand(table: Table, scale: ClosedScale) -> MetricRequirement:
    threshold, weight = table.number("threshold"), table.number("weight")
    table.close()
    if threshold is None or weight is None:
        raise table.missing("threshold" if threshold is None else "weight")
    _check_on(table, "threshold", threshold, scale)
    if weight < 0:
        raise table.error("weight", f"expected 0 or more, got {weight:g}")
    return MetricRequirement(threshold=threshold, weight=weight)


def _hard_fail(
    table: Table, demands: Mapping[str, MetricRequirement], scale: ClosedScale
) -> HardFail:
    below, names = table.number("below"), table.texts("metrics")
    contract = table.flag("contract")
    table.close()
    if below is None and names:
        raise table.missing("below")
    if below is not None:
        _check_on(table, "below", below, scale)
    for name in names:
        if canonical_name(name) not in demands:
            raise _not_there(table, name, demands)
    metrics = tuple(map(canonical_name, names))
    return HardFail(below=below, metrics=metrics, contract=bool(contract))


def _not_there(table: Table, name: str, demands: Mapping[str, MetricRequirement]) -> FormatError:
    hint = did_you_mean(name, demands) or f"its metrics are {', '.join(demands)}"
    return table.error("metrics", f"{name!r} is no metric of the profile", hint=hint)


def _check_on(table: Table, name: str, value: float, scale: ClosedScale) -> None:
    if not scale[0] <= value <= scale[1]:
        message = f"{value:g} is not on the scale from {scale[0]:g} to {scale[1]:g}"
        raise table.error(name, message)
