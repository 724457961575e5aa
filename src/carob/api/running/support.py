"""Which metrics a dataset or a trace file has the data for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from carob.api.load import PathName, as_list, load
from carob.api.running.sources import golden_format
from carob.api.traces import list_traces
from carob.metrics import Need, unmet_need
from carob.schema import Case, MetricInfo

_OF_TURNS = ("response", "tool_calls")
"""Expectations that a case may state for its turns instead of for the whole."""


def supported_metrics(
    metrics: Iterable[MetricInfo], paths: PathName | Iterable[PathName]
) -> tuple[MetricInfo, ...]:
    """Return the metrics that the files together have the data for: at least one case states what
    the metric compares with, and at least one trace recorded what it measures. What only missing
    files could tell is taken for granted."""
    files = [Path(path) for path in as_list(paths)]
    golden = [path for path in files if golden_format(path)]
    cases = [case for path in golden for case in load(path).cases]
    traces = [path for path in files if path not in golden]
    if golden:
        metrics = [metric for metric in metrics if _any_case_supports(cases, metric)]
    if traces:
        entries = list_traces(traces).traces
        names = {name for entry in entries for name, why in entry.supports.items() if not why}
        metrics = [metric for metric in metrics if metric.name in names]
    elif any(case.recorded for case in cases):
        metrics = [metric for metric in metrics if _any_answer_supports(cases, metric)]
    return tuple(metrics)


def _any_case_supports(cases: Sequence[Case], metric: MetricInfo) -> bool:
    fields = [need.removeprefix("case.") for need in metric.needs if need.startswith("case.")]
    return any(all(_states(case, field) for field in fields) for case in cases)


def _states(case: Case, field: str) -> bool:
    if getattr(case, field, None) is not None:
        return True
    return field in _OF_TURNS and any(getattr(turn, field) is not None for turn in case.turns)


def _any_answer_supports(cases: Sequence[Case], metric: MetricInfo) -> bool:
    answers = [case.recorded for case in cases if case.recorded]
    return any(
        not any(unmet_need(cast("Need", need), answer) for need in metric.needs)
        for answer in answers
    )
