"""Describe installed metrics, and build the metrics of a run."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from typing import get_args

import msgspec

from carob import plugins
from carob.api.load import PathName
from carob.config import MetricChoice
from carob.config.config import RUBRIC_FILES
from carob.config.trust import untrusted_error
from carob.errors import FormatError, UsageError
from carob.evaluators.references import parse_evaluator
from carob.metrics import Metric, Need, build, metric_parameters
from carob.policy.profile import canonical_name
from carob.schema import EvaluatorSettings, Json, MetricInfo
from carob.text.spelling import did_you_mean

_TEMPLATE_KEYS = {"template", "is_managed", "managed_metric_name"}
"""Keys of a metric definition that Carob can follow."""


def metrics(
    names: Iterable[str] = (),
    *,
    needs: Iterable[str] = (),
    judged: bool | None = None,
    files: Iterable[PathName] = (),
) -> tuple[MetricInfo, ...]:
    """Describe the named metrics, or every installed metric, as far as they need all of `needs`,
    are `judged` by a model, and can be computed for the golden data and traces in `files`."""
    described = _find_metrics(names)
    if judged is not None:
        described = tuple(metric for metric in described if metric.judged == judged)
    for need in needs:
        described = tuple(metric for metric in described if _has_need(metric, need))
    if not (paths := list(files)):
        return described
    from carob.api.running.support import supported_metrics  # late: only `files` need readers

    return supported_metrics(described, paths)


def need_names() -> tuple[str, ...]:
    """Return what metrics can need: `golden` for any golden data, and the parts of cases and
    traces."""
    return ("golden", *get_args(Need))


def _has_need(metric: MetricInfo, need: str) -> bool:
    if need not in need_names():
        hint = did_you_mean(need, need_names())
        message = f"unknown need {need!r}; expected one of: {', '.join(need_names())}"
        raise UsageError(message, hint=hint)
    if need == "golden":
        return any(known.startswith("case.") for known in metric.needs)
    return need in metric.needs


def _find_metrics(names: Iterable[str]) -> tuple[MetricInfo, ...]:
    installed = plugins.metrics()
    for name in (names := [canonical_name(name) for name in names]):
        if name not in installed:
            hint = did_you_mean(name, installed) or "`carob metrics` lists them"
            raise UsageError(f"unknown metric {name!r}", hint=hint)
    return tuple(_describe(installed[name]) for name in names or installed)


def _describe(kind: type[Metric]) -> MetricInfo:
    description = inspect.cleandoc(kind.__doc__ or "")
    return MetricInfo(
        name=kind.name,
        version=kind.version,
        meaning=" ".join(description.partition("\n\n")[0].split()),
        description=description,
        needs=kind.needs,
        scale=kind.scale,
        better=kind.better,
        threshold=kind.threshold,
        judged=kind.judged,
        params=_defaults(kind),
        packages=kind.imports,
    )


def _defaults(kind: type[Metric]) -> dict[str, Json]:
    """Return the parameters with their defaults. A required parameter has the default `None`."""
    fields = dataclasses.fields(kind)  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    required = {
        field.name: None
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    return dict(required) if required else metric_parameters(kind())


def is_rubric_file(name: str) -> bool:
    """Tell whether the name of a metric is that of a file with a rubric, which is opened."""
    return name.endswith(RUBRIC_FILES)


def build_metric(choice: MetricChoice) -> Metric:
    """Build a metric that is installed, that a config defines, or that a rubric file describes.
    Errors name the config that asks for the metric."""
    try:
        return _build(choice)
    except (UsageError, FormatError) as error:
        where = _locate(choice, error.where)
        raise type(error)(error.message, where=where, hint=error.hint) from error


def _locate(choice: MetricChoice, where: str | None) -> str | None:
    """Prefix the location with the config. A rubric is a file of its own."""
    if choice.source is None or choice.rubric:
        return where
    return f"{choice.source}, {where}" if where else choice.source


def _build(choice: MetricChoice) -> Metric:
    # Judges are imported late: a small run without them takes less time than the import.
    if choice.rubric or is_rubric_file(choice.name):
        from carob.judges.rubrics.load import rubric_class

        kind = (
            rubric_class(choice.rubric, choice.name) if choice.rubric else rubric_class(choice.name)
        )
    elif _TEMPLATE_KEYS & choice.definition.keys():
        from carob.judges.rubrics.definitions import definition_class

        kind = definition_class(choice.name, choice.definition)
    elif choice.evaluator:
        return _build_evaluator(choice, choice.evaluator)
    else:
        return _build_installed(canonical_name(choice.name), choice.params)
    if kind.name in plugins.metrics():
        hint = "choose a name that no installed metric has"
        raise UsageError(f"metric {kind.name!r} already exists", where=choice.name, hint=hint)
    return build(choice.name, choice.params, {choice.name: kind})


def _build_evaluator(choice: MetricChoice, evaluator: EvaluatorSettings) -> Metric:
    """Load the user's code, unless it comes from a config that the user has not trusted."""
    # Late, as judges: few runs have evaluators.
    from carob.evaluators.foreign import foreign_class
    from carob.evaluators.graders import grader_class
    from carob.evaluators.python_metric import load_metric

    if evaluator.withheld:
        raise untrusted_error(choice.source or "", evaluator.withheld)
    named = None if parse_evaluator(choice.name) else choice.name
    if choice.threshold is not None:
        evaluator = msgspec.structs.replace(evaluator, threshold=choice.threshold)
    if evaluator.kind == "python":
        kind = load_metric(evaluator.file, evaluator.function, named)
    elif evaluator.kind == "openai":
        kind = grader_class(evaluator, named)
    else:
        kind = foreign_class(evaluator, named)
    if named is None and kind.name in plugins.metrics():
        hint = "choose a name that no installed metric has"
        raise UsageError(f"metric {kind.name!r} already exists", where=choice.name, hint=hint)
    return build(kind.name, choice.params, {kind.name: kind})


def _build_installed(name: str, params: Mapping[str, Json]) -> Metric:
    try:
        return build(name, params, plugins.metrics())
    except UsageError as error:
        error.hint = error.hint or f"`carob metrics {name}` describes its parameters"
        raise
