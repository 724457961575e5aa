"""Use-cases of metrics."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable

from carob import plugins
from carob.errors import UsageError
from carob.metrics import Metric, metric_parameters
from carob.schema import Json, MetricInfo
from carob.text.spelling import did_you_mean


def metrics(names: Iterable[str] = ()) -> tuple[MetricInfo, ...]:
    """Every metric that is installed, by name; or those that are named."""
    known = plugins.metrics()
    for name in (names := [*names]):
        if name not in known:
            hint = did_you_mean(name, known) or "`carob metrics` lists them"
            raise UsageError(f"unknown metric {name!r}", hint=hint)
    return tuple(_info(known[name]) for name in names or known)


def _info(kind: type[Metric]) -> MetricInfo:
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
    """The parameters with their defaults; one that must be given has none."""
    fields = dataclasses.fields(kind)  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    required = {
        field.name: None
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    return dict(required) if required else metric_parameters(kind())
