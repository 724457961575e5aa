"""Who answers in a run: metrics that are judges, the models they ask, and what was asked before."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import cast

import msgspec

from carob import judges, plugins
from carob.config import MetricChoice
from carob.errors import FormatError, UsageError
from carob.metrics import Asker, Judge, Metric, build
from carob.policy.profile import canonical
from carob.schema import Json, JudgeChoice
from carob.store import is_there, open_store
from carob.store.shelf import Shelf

_RUBRICS = (".toml", ".yaml", ".yml")
_DEFINING = {"template", "is_managed", "managed_metric_name"}
"""What a definition has that we can follow; somebody's code we do not run."""


_CODE = {"code_config", "codeConfig", "path", "ref"}
"""What a definition has that says where somebody's code is."""


def made_metric(choice: MetricChoice) -> Metric:
    """The metric that a user asked for: one that is installed, one that a file defines, or a rubric
    of the user's own."""
    try:
        return _made(choice)
    except (UsageError, FormatError) as error:
        where = _place(choice, error.where)
        raise type(error)(error.message, where=where, hint=error.hint) from error


def _place(choice: MetricChoice, found: str | None) -> str | None:
    """The config that asks for the metric, and the place in it if the error names one. A rubric is
    a file of its own."""
    if choice.source is None or choice.rubric:
        return found
    return f"{choice.source}, {found}" if found else choice.source


def _made(choice: MetricChoice) -> Metric:
    if choice.rubric:
        kind = judges.rubric_class(choice.rubric, choice.name)
    elif choice.name.endswith(_RUBRICS):
        kind = judges.rubric_class(choice.name)
    elif _DEFINING & choice.definition.keys():
        kind = judges.definition_class(choice.name, choice.definition)
    elif _CODE & choice.definition.keys() and choice.name not in plugins.metrics():
        hint = "leave it out, or install it as a plugin that has a metric of this name"
        raise UsageError(
            f"{choice.name!r} is code of your own, which Carob does not run", hint=hint
        )
    else:
        return _installed(canonical(choice.name), choice.params)
    if kind.name in plugins.metrics():
        hint = "give it a name that no installed metric has"
        raise UsageError(f"there is a metric {kind.name!r} already", where=choice.name, hint=hint)
    return build(choice.name, choice.params, {choice.name: kind})


def _installed(name: str, params: Mapping[str, Json]) -> Metric:
    try:
        return build(name, params, plugins.metrics())
    except UsageError as error:
        error.hint = error.hint or f"`carob metrics {name}` describes its parameters"
        raise


class Panel:
    """The models that are asked in one run, one asker for each, all within the same limits. What
    they answer is kept in the store `answers`; without one, as long as the panel lasts."""

    def __init__(
        self, judge: str | JudgeChoice | None, answers: str | None, *, dry: bool = False
    ) -> None:
        named = JudgeChoice(model=judge, always=True) if isinstance(judge, str) else judge
        self._choice = named or JudgeChoice()
        self._answers = answers
        self._dry = dry
        self._askers: dict[str, Asker] = {}

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
        return self._budget.stopped if self._askers else None

    @cached_property
    def _cache(self) -> judges.Cache:
        place = self._answers
        if place is None or (self._dry and not is_there(place)):
            return judges.Memory()
        return judges.Lasting(lambda: _shelf(place))

    @cached_property
    def _budget(self) -> judges.Budget:
        return judges.Budget(max_calls=self._choice.max_calls, max_cost=self._choice.max_cost)

    def _made(self, choice: JudgeChoice) -> Asker:
        if self._dry:
            return judges.Estimator(choice, self._cache)
        self._budget.check_price(choice.model, judges.cost(choice.model, 1, 1))
        caller = judges.Caller(
            judges.open_model(choice),
            self._budget,
            concurrency=choice.concurrency,
            deadline=choice.deadline,
        )
        return judges.LiveAsker(caller, choice, self._cache)


@contextmanager
def _shelf(place: str) -> Generator[Shelf[judges.Kept]]:
    with open_store(place, create=True) as database:
        yield Shelf(database, "judge_cache", judges.Kept)
