"""Who answers in a run: metrics that are judges, the models they ask, and what was asked before."""

from __future__ import annotations

from typing import cast

import msgspec

from karat import judges, plugins
from karat.config import MetricChoice
from karat.errors import UsageError
from karat.metrics import Asker, Judge, Metric, build
from karat.schema import JudgeChoice

_RUBRICS = (".toml", ".yaml", ".yml")
_DEFINING = {"template", "is_managed", "managed_metric_name"}
"""What a definition has that we can follow; somebody's code we do not run."""


def made_metric(choice: MetricChoice) -> Metric:
    """The metric that a user asked for: one that is installed, one that a file defines, or a rubric
    of the user's own."""
    if choice.rubric or choice.name.endswith(_RUBRICS):
        kind = judges.rubric_class(choice.rubric or choice.name)
    elif _DEFINING & choice.definition.keys():
        kind = judges.definition_class(choice.name, choice.definition)
    else:
        return build(choice.name, choice.params, plugins.metrics())
    return build(choice.name, choice.params, {choice.name: kind})


class Panel:
    """The models that are asked in one run, one asker for each, all within the same limits."""

    def __init__(
        self, choice: JudgeChoice | None, cache: judges.Cache, *, dry: bool = False
    ) -> None:
        self._choice = choice or JudgeChoice()
        self._cache = cache
        self._dry = dry
        self._askers: dict[str, Asker] = {}
        self._budget: judges.Budget | None = None

    def asker(self, metric: Metric) -> Asker | None:
        """Who answers the questions of a metric; nobody, if no model is named."""
        if not metric.judged:
            return None
        own = None if self._choice.always else cast("Judge", metric).judge_model
        model = own or self._choice.model
        if not model:
            return None
        if model not in self._askers:
            self._askers[model] = self._made(msgspec.structs.replace(self._choice, model=model))
        return self._askers[model]

    @property
    def stopped(self) -> str | None:
        """Why not all questions were asked."""
        return self._budget.stopped if self._budget else None

    def _made(self, choice: JudgeChoice) -> Asker: ...
