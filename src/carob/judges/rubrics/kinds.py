"""Classes of judges, made of rubrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec

from carob.judges.rubrics.judge import Part, RubricJudge, Samples, parts_of
from carob.judges.rubrics.numeric import GradeJudge
from carob.judges.rubrics.properties import PropertyJudge
from carob.judges.rubrics.rubric import Kind, Rubric
from carob.judges.rubrics.sentences import SentenceJudge
from carob.judges.rubrics.yes_no import VerdictJudge
from carob.metrics import metric_parameters

_JUDGES: Mapping[Kind, type[RubricJudge]] = {
    "numbers": GradeJudge,
    "yes/no": VerdictJudge,
    "properties": PropertyJudge,
    "sentences": SentenceJudge,
}


class Recipe(NamedTuple):
    """How a class is made again in another process."""

    make: Callable[..., type[RubricJudge]]
    args: tuple[Any, ...]


def judge_class(
    rubric: Rubric,
    *,
    base: type[RubricJudge] | None = None,
    settings: type[RubricJudge] | None = None,
    parts: tuple[Part, ...] | None = None,
    agents: tuple[str, ...] = (),
    recipe: Recipe | None = None,
) -> type[RubricJudge]:
    """The class that judges by the rubric: a metric whose parameters are how often and whom it
    asks. `settings` adds further parameters; `parts` stand in for the inputs of the rubric."""
    kind = base or _JUDGES[rubric.kind]
    shown = parts_of(rubric) if parts is None else parts
    needs = dict.fromkeys(part.input.need for part in shown if part.required and part.input.need)
    made = type(
        rubric.name,
        (settings, kind) if settings else (kind,),
        {
            "__doc__": "\n\n".join(text for text in (rubric.title, rubric.about) if text),
            "__module__": __name__,
            "__annotations__": {"samples": Samples},
            "__reduce__": _reduced,
            "recipe": recipe or Recipe(judge_class, (rubric,)),
            "samples": rubric.samples,
            "name": rubric.name,
            "version": rubric.version,
            "scale": (rubric.low, rubric.high),
            "threshold": rubric.threshold,
            "needs": tuple(needs),
            "asks": rubric,
            "parts": shown,
            "agents": agents,
        },
    )
    return dataclass(frozen=True, kw_only=True)(cast("type[RubricJudge]", made))


def _reduced(self: RubricJudge) -> tuple[Any, ...]:
    """Classes that are made of files cannot be found by their names."""
    return _again, (getattr(self, "recipe"), metric_parameters(self))  # noqa: B009 - set when it was made


def _again(recipe: Recipe, params: dict[str, Any]) -> RubricJudge:
    return msgspec.convert(params, recipe.make(*recipe.args))
