"""Verdicts of scoring profiles as JSON and as text for a person."""

from __future__ import annotations

from collections.abc import Iterator

from carob.report.text import columns, count, printable
from carob.schema import CaseResult, MetricSummary, PolicyReport, ProfileVerdict, RunSummary

_SHOWN = 20


def document(made: PolicyReport) -> dict[str, list[dict[str, str | float | bool | None]]]:
    """What others rely on."""
    return {"cases": [_judged(case, case.judgement) for case in made.cases if case.judgement]}


def text(made: PolicyReport) -> str:
    """For each profile the cases that did not pass, with the reasons, and the averages."""
    lines: list[str] = []
    for name, summary in made.profiles.items():
        lines += [*_profile(name, summary, made.cases), ""]
    return "\n".join(printable(line) for line in lines[:-1]) + "\n"


def _judged(case: CaseResult, judgement: ProfileVerdict) -> dict[str, str | float | bool | None]:
    return {
        "case": case.case,
        "composite": judgement.composite,
        "passed": judgement.passed,
        "reason": judgement.reason,
    }


def _profile(name: str, summary: RunSummary, cases: tuple[CaseResult, ...]) -> Iterator[str]:
    counts = summary.cases
    rate = f"{counts.passed / counts.total:.1%}"
    yield f"{name}: {count(counts.total, 'case')}, {counts.passed:,} passed ({rate})"
    if summary.composite is not None:
        yield f"composite {summary.composite:.2f} on average"
    judged = [(one.case, one.judgement) for one in cases if one.judgement]
    failed = [(case, one) for case, one in judged if one.profile == name and not one.passed]
    for case, one in failed[:_SHOWN]:
        yield f"  {case}  {_number(one.composite)}  {one.reason}"
    if len(failed) > _SHOWN:
        yield f"  and {len(failed) - _SHOWN:,} more that did not pass; all are in --format json"
    head = ["metric", "mean", "min", "max", "below threshold", "unscored"]
    rows = [_row(metric, one) for metric, one in summary.metrics.items()]
    if rows:
        yield ""
        yield from (f"  {line}" for line in columns([head, *rows]))


def _row(name: str, one: MetricSummary) -> list[str]:
    values = (one.mean, one.min, one.max)
    return [name, *map(_number, values), f"{one.failed:,}", f"{one.unscored:,}"]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
