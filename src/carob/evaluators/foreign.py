"""Evaluators that are processes, as metrics."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import msgspec

from carob.evaluators.answers import parse_answer, read_eval_result, read_grading, read_line
from carob.evaluators.documents import adk_input, assertion_input, line_input
from carob.evaluators.invocations import eval_input
from carob.evaluators.launch import make_launch
from carob.evaluators.process import EvaluatorPool
from carob.evaluators.python_metric import digest_file
from carob.metrics import Metric, Outcome, metric_parameters
from carob.schema import Case, EvaluatorSettings, Json, Trace
from carob.schema.base import prepare_type

_IDS = count(1)
"""The ids of lines. A command that repeats the id of a line in its answer is checked."""


class ForeignMetric(Metric):
    """Asks a process. `foreign_class` builds a subclass for each evaluator."""

    version: ClassVar[int] = 1
    waits: ClassVar[bool] = True
    settings: ClassVar[EvaluatorSettings]
    pool: ClassVar[EvaluatorPool]
    config: dict[str, Json]

    def score(self, case: Case, trace: Trace) -> Outcome:
        """Send the pair, and read the answer. `EvaluatorError` becomes `Failed`."""
        content = self._document(case, trace)
        document = msgspec.json.encode(content)
        answer = self.pool.ask(document, partial(parse_answer, id=content.get("id")))
        return self._read(answer)

    def _document(self, case: Case, trace: Trace) -> dict[str, Any]:
        kind, threshold = self.settings.kind, self.settings.threshold
        if kind == "agentevals":
            return eval_input(self.name, threshold, self.config, case, trace)
        if kind == "promptfoo":
            return assertion_input(self.config, case, trace)
        if kind == "adk":
            return adk_input(self.name, threshold, case, trace)
        return {"id": next(_IDS), **line_input(self.name, self.config, case, trace)}

    def _read(self, answer: Mapping[str, Any]) -> Outcome:
        kind, threshold = self.settings.kind, self.settings.threshold
        if kind == "promptfoo":
            return read_grading(answer)
        if kind == "lines" or answer.get("error") is not None:  # an error of the host
            return read_line(answer)
        return read_eval_result(answer, 0.5 if threshold is None else threshold)

    def close(self) -> None:
        """End the processes."""
        self.pool.close()


def foreign_class(settings: EvaluatorSettings, name: str | None = None) -> type[Metric]:
    """Return the metric class of an evaluator that is a process."""
    digest = _digest(settings)
    launch = make_launch(settings)
    members = {
        "__doc__": f"Evaluator {_shown(settings)} ({settings.kind}).",
        "__module__": __name__,
        "__annotations__": {"config": dict[str, Json], "digest": Literal[digest]},
        "__reduce__": _reduce,
        "name": name or _default_name(settings),
        "threshold": None if settings.kind == "lines" else 0.5,
        "settings": settings,
        "pool": EvaluatorPool(launch, max(2, os.cpu_count() or 2)),
        "config": field(default_factory=lambda: dict(settings.config)),
        "digest": digest,
    }
    kind = type(name or _default_name(settings), (ForeignMetric,), members)
    return cast("type[Metric]", dataclass(frozen=True, kw_only=True)(kind))


def _default_name(settings: EvaluatorSettings) -> str:
    files = (settings.file, *settings.command)
    named = next((word for word in files if Path(word).suffix), files[0] or files[-1])
    return (settings.function or Path(named).stem).rpartition(".")[2]


def _shown(settings: EvaluatorSettings) -> str:
    return Path(settings.file or settings.function or settings.command[0]).name


def _digest(settings: EvaluatorSettings) -> str:
    """The digest of the code: of the file, or of all files that a command names."""
    if settings.kind == "lines":
        files = [word for word in settings.command if Path(word).is_file()]
        # Without the program itself: an interpreter differs from machine to machine.
        files = [word for word in files if word != settings.command[0] or len(files) == 1]
        parts = [*settings.command, *map(digest_file, files)]
        return "sha256:" + sha256(msgspec.json.encode(parts)).hexdigest()
    return digest_file(settings.file) if settings.file else str(settings.function)


def _reduce(self: ForeignMetric) -> tuple[Any, ...]:
    return _rebuild, (self.settings, self.name, metric_parameters(self))


def _rebuild(settings: EvaluatorSettings, name: str, params: dict[str, Any]) -> Metric:
    return msgspec.convert(params, prepare_type(foreign_class(settings, name)))
