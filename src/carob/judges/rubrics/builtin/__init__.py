"""The rubrics that come with Carob, each a file that anybody can review. The metric of a rubric is
an attribute of this package, made when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from carob.judges.rubrics.adk import AdkSettings
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.kinds import Recipe, judge_class
from carob.judges.rubrics.load import read_rubric
from carob.judges.rubrics.rubric import Rubric
from carob.judges.rubrics.simulator import SimulatorJudge

_FOLDER = Path(__file__).parent
_BASES: Mapping[str, type[RubricJudge]] = {"per_turn_user_simulator_quality_v1": SimulatorJudge}


def __getattr__(name: str) -> type[RubricJudge]:
    if name not in _places():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return metric(name)


@cache
def metric(name: str) -> type[RubricJudge]:
    """The metric of a rubric that comes with Carob."""
    place = _places()[name]
    return judge_class(
        read_rubric(place),
        base=_BASES.get(name),
        settings=AdkSettings if place.parent.name == "adk" else None,
        recipe=Recipe(metric, (name,)),
    )


@cache
def managed() -> Mapping[str, Path]:
    """The rubrics for managed metrics, by the names that definitions of metrics use."""
    return {file.stem: file for file in sorted((_FOLDER / "managed").glob("*.toml"))}


@cache
def managed_rubric(name: str) -> Rubric:
    return read_rubric(managed()[name])


@cache
def _places() -> Mapping[str, Path]:
    """The files of the metrics, by name."""
    folders = ("adk", "explain", "other")
    return {file.stem: file for one in folders for file in sorted((_FOLDER / one).glob("*.toml"))}
