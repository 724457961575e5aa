"""The installed metrics, and verdicts of scoring profiles, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

import msgspec

from carob.report.text import columns, count, join_lines
from carob.schema import (
    CaseResult,
    Json,
    MetricInfo,
    MetricSummary,
    PolicyReport,
    ProfileVerdict,
    RunSummary,
)

_WIDTH = 100
_SHOWN = 20


def format_metrics(metrics: tuple[MetricInfo, ...], *, full: bool = False) -> str:
    """Return each metric with its meaning and needs; if `full`, also how it is measured."""
    return "\n".join(line for metric in metrics for line in _metric(metric, full)) + "\n"


def _metric(metric: MetricInfo, full: bool) -> Iterator[str]:
    kind = "judged by a model" if metric.judged else "offline"
    yield f"{metric.name}@{metric.version}  {kind}, {_scale(metric)}, {_threshold(metric)}"
    for paragraph in metric.description.split("\n\n") if full else [metric.meaning]:
        yield from wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    if metric.needs:
        yield f"  needs {', '.join(metric.needs)}"
    if metric.params and full:
        for name, default in metric.params.items():
            yield f"  --param {metric.name}.{name}={_as_typed(default)}"
    elif metric.params:
        yield f"  parameters: {', '.join(metric.params)}"
    if metric.packages:
        yield f"  requires the package {', '.join(metric.packages)}"
    yield ""


def _as_typed(value: Json) -> str:
    """Return a default as it would be typed on the command line."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _scale(metric: MetricInfo) -> str:
    low, high = metric.scale
    scale = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return f"{scale}, {metric.better} is better"


def _threshold(metric: MetricInfo) -> str:
    return "informational" if metric.threshold is None else f"threshold {metric.threshold:g}"


def verdicts_document(
    verdicts: PolicyReport,
) -> dict[str, list[dict[str, str | float | bool | None]]]:
    """Return the JSON document of `carob policy apply`."""
    cases = [_verdict(case, case.judgement) for case in verdicts.cases if case.judgement]
    return {"cases": cases}


def _verdict(case: CaseResult, judgement: ProfileVerdict) -> dict[str, str | float | bool | None]:
    return {
        "case": case.case,
        "composite": judgement.composite,
        "passed": judgement.passed,
        "reason": judgement.reason,
    }


def format_verdicts(verdicts: PolicyReport) -> str:
    """Return for each profile the cases that did not pass, with their reasons, and the means."""
    lines: list[str] = []
    for name, summary in verdicts.profiles.items():
        lines += [*_profile(name, summary, verdicts.cases), ""]
    return join_lines(lines[:-1])


def _profile(name: str, summary: RunSummary, cases: tuple[CaseResult, ...]) -> Iterator[str]:
    counts = summary.cases
    rate = f"{counts.passed / counts.total:.1%}"
    yield f"{name}: {count(counts.total, 'case')}, {counts.passed:,} passed ({rate})"
    if summary.composite is not None:
        yield f"mean composite {summary.composite:.2f}"
    judged = [(case.case, case.judgement) for case in cases if case.judgement]
    failed = [(case, verdict) for case, verdict in judged if verdict.profile == name]
    failed = [(case, verdict) for case, verdict in failed if not verdict.passed]
    for case, verdict in failed[:_SHOWN]:
        yield f"  {case}  {_number(verdict.composite)}  {verdict.reason}"
    if len(failed) > _SHOWN:
        more = f"{len(failed) - _SHOWN:,} more that did not pass"
        yield f"  and {more}; use --format json to list all"
    head = ["metric", "mean", "min", "max", "below threshold", "unscored"]
    rows = [_summary_row(metric, scores) for metric, scores in summary.metrics.items()]
    if rows:
        yield ""
        yield from (f"  {line}" for line in columns([head, *rows]))


def _summary_row(name: str, summary: MetricSummary) -> list[str]:
    values = (summary.mean, summary.min, summary.max)
    return [name, *map(_number, values), f"{summary.failed:,}", f"{summary.unscored:,}"]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
