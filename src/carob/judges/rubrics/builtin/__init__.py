"""The built-in rubrics, one reviewable file each.

The metric class of each rubric is an attribute of this package and is built on first access.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from carob.judges.rubrics.adk import AdkSettings
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.judge_class import Recipe, judge_class
from carob.judges.rubrics.load import read_rubric
from carob.judges.rubrics.rubric import JudgeRubric
from carob.judges.rubrics.yes_no import SimulatorJudge

_FOLDER = Path(__file__).parent
_BASES: Mapping[str, type[RubricJudge]] = {"per_turn_user_simulator_quality_v1": SimulatorJudge}


def __getattr__(name: str) -> type[RubricJudge]:
    if name not in _metric_files():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return builtin_metric(name)


@cache
def builtin_metric(name: str) -> type[RubricJudge]:
    """Return the metric class of a built-in rubric."""
    path = _metric_files()[name]
    return judge_class(
        read_rubric(path),
        base=_BASES.get(name),
        settings=AdkSettings if path.parent.name == "adk" else None,
        recipe=Recipe(builtin_metric, (name,)),
    )


@cache
def list_managed_files() -> Mapping[str, Path]:
    """Return the rubric files of managed metrics, by the name used in metric definitions."""
    return {file.stem: file for file in sorted((_FOLDER / "managed").glob("*.toml"))}


@cache
def read_managed_rubric(name: str) -> JudgeRubric:
    """Return the rubric of a managed metric."""
    return read_rubric(list_managed_files()[name])


@cache
def _metric_files() -> Mapping[str, Path]:
    """Return the rubric files of metrics, by name."""
    folders = ("adk", "explain", "other")
    return {
        file.stem: file for folder in folders for file in sorted((_FOLDER / folder).glob("*.toml"))
    }
