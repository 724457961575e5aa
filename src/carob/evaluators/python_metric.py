"""Metrics in a Python file of the user: `FILE.py:NAME`, or `FILE.py` with only one metric."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

import msgspec

from carob.errors import UsageError
from carob.lazy import load_module, load_reference
from carob.metrics import Metric, metric_parameters
from carob.metrics.function import FunctionMetric, metric
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean


def load_metric(file: str, name: str | None = None, alias: str | None = None) -> type[Metric]:
    """Return the metric class of a file, with the digest of the file as a parameter, so that a
    comparison notices that the code changed. A function without `@carob.metric` gets its
    defaults. `alias` is the name that a config gives to the metric."""
    where = file if name is None else f"{file}:{name}"
    digest = digest_file(file)
    value = load_reference(where, where) if name else _only_metric(file)
    if inspect.isfunction(value):
        value = metric(value)
    if not isinstance(value, type) or not hasattr(value, "score") or not hasattr(value, "name"):
        hint = "decorate a function with @carob.metric"
        raise UsageError(f"{name} is not a metric", where=file, hint=hint)
    members = {
        "__doc__": value.__doc__,
        "__module__": value.__module__,
        # Only this value is valid: a worker that loads a changed file does not go on.
        "__annotations__": {"digest": Literal[digest]},
        "digest": digest,
        "origin": (file, name, alias),
        **({"name": alias} if alias else {}),
        "__reduce__": _reduce,
    }
    kind = type(value.__name__, (cast("type[Any]", value),), members)
    return cast("type[Metric]", dataclass(frozen=True, kw_only=True)(kind))


def digest_file(file: str) -> str:
    """Return the digest of a file with code. Raises `UsageError` if it cannot be read."""
    try:
        with Path(file).open("rb") as opened:
            return "sha256:" + file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        message = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise UsageError(message, where=file) from error


def _only_metric(file: str) -> type[Metric]:
    module: ModuleType = load_module(file, file)
    kinds: dict[str, type[Metric]] = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, FunctionMetric)
        and value.__module__ == module.__name__
    }
    if len(kinds) == 1:
        return next(iter(kinds.values()))
    if not kinds:
        hint = "decorate a function with @carob.metric"
        raise UsageError("the file defines no metric", where=file, hint=hint)
    first = next(iter(kinds))
    hint = did_you_mean(Path(file).stem, kinds) or f"name one of them, such as {file}:{first}"
    raise UsageError(f"the file defines {len(kinds)} metrics", where=file, hint=hint)


def _reduce(self: Metric) -> tuple[Any, ...]:
    # Pickle finds classes by module and name, and the module of a file is not on the path.
    origin: tuple[str, str | None, str | None] = getattr(self, "origin")  # noqa: B009 - set by load_metric
    return _rebuild, (origin, metric_parameters(self))


def _rebuild(origin: tuple[str, str | None, str | None], params: dict[str, Any]) -> Metric:
    return msgspec.convert(params, prepare_type(load_metric(*origin)))
