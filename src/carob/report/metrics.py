"""The installed metrics, and verdicts of scoring profiles, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from carob.report.layout import (
    PLAIN,
    Block,
    Display,
    Painted,
    Paragraph,
    Part,
    TextTable,
    join_lines,
    line,
)
from carob.report.text import count
from carob.schema import (
    CaseResult,
    Json,
    MetricInfo,
    MetricSummary,
    PolicyReport,
    ProfileVerdict,
    RunSummary,
)

_SHOWN = 20


def format_metrics(metrics: Sequence[MetricInfo], display: Display = PLAIN) -> str:
    """Return a table of the offline metrics, and a table of those that ask a model."""
    offline = [metric for metric in metrics if not metric.judged]
    judged = [metric for metric in metrics if metric.judged]
    blocks = [_metric_table("metric", offline)] if offline else []
    blocks += [_metric_table("judged metric", judged)] if judged else []
    total = f"{count(len(metrics), 'metric')}; `carob metrics NAME` describes one"
    return "\n".join(join_lines([block], display) for block in [*blocks, total])


def _metric_table(title: str, metrics: Iterable[MetricInfo]) -> TextTable:
    head: list[Part] = [title, "threshold", "golden data", "meaning"]
    return TextTable([head, *map(_metric_row, metrics)], left=(0, 2, 3), cut=(3,))


def _metric_row(metric: MetricInfo) -> list[Part]:
    golden = [need.removeprefix("case.") for need in metric.needs if need.startswith("case.")]
    return [
        Painted(metric.name, "strong"),
        "–" if metric.threshold is None else f"{metric.threshold:g}",
        ", ".join(golden) or "–",
        metric.meaning,
    ]


def format_metric_details(metrics: Sequence[MetricInfo], display: Display = PLAIN) -> str:
    """Return how each metric is measured, what it needs, and its parameters."""
    return "\n".join(join_lines(_metric_details(metric), display) for metric in metrics)


def _metric_details(metric: MetricInfo) -> Iterator[Block]:
    kind = "judged by a model" if metric.judged else "offline"
    facts = f"  {kind}, {_scale(metric)}, {_threshold(metric)}"
    yield line(Painted(f"{metric.name}@{metric.version}", "strong"), facts)
    for paragraph in metric.description.split("\n\n"):
        yield Paragraph(("  ", " ".join(paragraph.split())), hang=2)
    if metric.needs:
        yield f"  needs {', '.join(metric.needs)}"
    for name, default in metric.params.items():
        yield f"  --param {metric.name}.{name}={_as_typed(default)}"
    if metric.packages:
        yield f"  requires the package {', '.join(metric.packages)}"


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


def format_verdicts(verdicts: PolicyReport, display: Display = PLAIN) -> str:
    """Return for each profile the cases that did not pass, with their reasons, and the means."""
    lines: list[Block] = []
    for name, summary in verdicts.profiles.items():
        lines += [*_profile(name, summary, verdicts.cases), ""]
    return join_lines(lines[:-1], display)


def _profile(name: str, summary: RunSummary, cases: tuple[CaseResult, ...]) -> Iterator[Block]:
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
        yield TextTable([head, *rows], indent=2)


def _summary_row(name: str, summary: MetricSummary) -> list[str]:
    values = (summary.mean, summary.min, summary.max)
    return [name, *map(_number, values), f"{summary.failed:,}", f"{summary.unscored:,}"]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
