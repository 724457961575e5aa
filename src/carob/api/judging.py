"""Who answers in a run: metrics that are judges, the models they ask, and what was asked before."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from carob import plugins
from carob.config import MetricChoice
from carob.errors import FormatError, UsageError
from carob.judges.client.cache import Cache, CachedAnswer, MemoryCache, StoredCache
from carob.judges.pool import JudgePool
from carob.metrics import Metric, build
from carob.policy.profile import canonical_name
from carob.schema import Json, JudgeSettings
from carob.store import is_there, open_store
from carob.store.shelf import Shelf

_RUBRICS = (".toml", ".yaml", ".yml")
_DEFINING = {"template", "is_managed", "managed_metric_name"}
"""What a definition has that we can follow; somebody's code we do not run."""


_CODE = {"code_config", "codeConfig", "path", "ref"}
"""What a definition has that says where somebody's code is."""


def build_metric(choice: MetricChoice) -> Metric:
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
    # Judges are imported late: a small run without them takes less time than the import.
    if choice.rubric or choice.name.endswith(_RUBRICS):
        from carob.judges.rubrics.load import rubric_class

        kind = (
            rubric_class(choice.rubric, choice.name) if choice.rubric else rubric_class(choice.name)
        )
    elif _DEFINING & choice.definition.keys():
        from carob.judges.rubrics.definitions import definition_class

        kind = definition_class(choice.name, choice.definition)
    elif _CODE & choice.definition.keys() and choice.name not in plugins.metrics():
        hint = "leave it out, or install it as a plugin that has a metric of this name"
        raise UsageError(
            f"{choice.name!r} is code of your own, which Carob does not run", hint=hint
        )
    else:
        return _installed(canonical_name(choice.name), choice.params)
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


def judge_pool(
    judge: str | JudgeSettings | None, answers: str | None, *, dry: bool = False
) -> JudgePool:
    """Return the judges of one run. Their answers are cached in the store `answers`, or in memory
    without one. A dry pool does not create a store that does not exist."""

    def open_cache() -> Cache:
        if answers is None or (dry and not is_there(answers)):
            return MemoryCache()
        return StoredCache(lambda: _answer_table(answers))

    return JudgePool(judge, open_cache, dry=dry)


@contextmanager
def _answer_table(url: str) -> Generator[Shelf[CachedAnswer]]:
    with open_store(url, create=True) as database:
        yield Shelf(database, "judge_cache", CachedAnswer)
