"""Build judge classes from rubrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec

from carob.judges.rubrics.judge import RubricInput, RubricJudge, Samples, rubric_inputs
from carob.judges.rubrics.numeric import NumericJudge
from carob.judges.rubrics.properties import PropertyJudge
from carob.judges.rubrics.rubric import JudgeRubric, RubricKind
from carob.judges.rubrics.sentences import SentenceJudge
from carob.judges.rubrics.yes_no import YesNoJudge
from carob.metrics import metric_parameters
from carob.schema.base import prepare_type

_JUDGES: Mapping[RubricKind, type[RubricJudge]] = {
    "numbers": NumericJudge,
    "yes/no": YesNoJudge,
    "properties": PropertyJudge,
    "sentences": SentenceJudge,
}


class Recipe(NamedTuple):
    """How to build the class again in another process."""

    make: Callable[..., type[RubricJudge]]
    args: tuple[Any, ...]


def judge_class(
    rubric: JudgeRubric,
    *,
    base: type[RubricJudge] | None = None,
    settings: type[RubricJudge] | None = None,
    parts: tuple[RubricInput, ...] | None = None,
    agents: tuple[str, ...] = (),
    recipe: Recipe | None = None,
) -> type[RubricJudge]:
    """Build the metric class of a rubric, with the number of samples and the model as parameters.
    `settings` adds more parameters; `parts` replaces the inputs of the rubric."""
    kind = base or _JUDGES[rubric.kind]
    shown = rubric_inputs(rubric) if parts is None else parts
    needs = dict.fromkeys(part.input.need for part in shown if part.required and part.input.need)
    judge = type(
        rubric.name,
        (settings, kind) if settings else (kind,),
        {
            "__doc__": "\n\n".join(text for text in (rubric.title, rubric.about) if text),
            "__module__": __name__,
            "__annotations__": {"samples": Samples},
            "__reduce__": _reduce,
            "recipe": recipe or Recipe(judge_class, (rubric,)),
            "samples": rubric.samples,
            "name": rubric.name,
            "version": rubric.version,
            "scale": (rubric.low, rubric.high),
            "threshold": rubric.threshold,
            "needs": tuple(needs),
            "source": rubric,
            "parts": shown,
            "agents": agents,
        },
    )
    return dataclass(frozen=True, kw_only=True)(cast("type[RubricJudge]", judge))


def _reduce(self: RubricJudge) -> tuple[Any, ...]:
    # Pickle finds classes by module and name, and a class that was built from a file has neither.
    return _rebuild, (getattr(self, "recipe"), metric_parameters(self))  # noqa: B009 - set by judge_class


def _rebuild(recipe: Recipe, params: dict[str, Any]) -> RubricJudge:
    return msgspec.convert(params, prepare_type(recipe.make(*recipe.args)))
