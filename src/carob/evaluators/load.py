"""Build the metric class of an evaluator, whatever its kind."""

from __future__ import annotations

import msgspec

from carob.evaluators.foreign import foreign_class
from carob.evaluators.graders import grader_class
from carob.evaluators.python_metric import load_metric
from carob.metrics import Metric
from carob.schema import EvaluatorSettings


def evaluator_class(
    settings: EvaluatorSettings, name: str | None, threshold: float | None
) -> type[Metric]:
    """Return the metric class of an evaluator, under a name of the user or its own. Raises
    `UsageError` for code that cannot be loaded."""
    if settings.kind == "python":
        return load_metric(settings.file, settings.function, name)
    if threshold is not None:
        settings = msgspec.structs.replace(settings, threshold=threshold)
    if settings.kind == "openai":
        return grader_class(settings, name)
    return foreign_class(settings, name)
