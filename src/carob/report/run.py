"""A run as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carob.analysis.causes import describe_cause, group_causes
from carob.files.spool import encode_items
from carob.report import format_json_list
from carob.report.forms import ReportInputs
from carob.report.judge_cost import judge_cost_table
from carob.report.layout import Block, Display, Preview, TextTable, join_lines, line, status
from carob.report.text import count, flat, integers, number, shortened
from carob.schema import (
    AttemptSummary,
    CaseResult,
    CaseScore,
    Exchange,
    MetricSummary,
    ModeComparison,
    Run,
)
from carob.schema.codec import RESULTS

_SHOWN = 10
_ORDER = ("failed", "error", "unscored", "passed", "info")
WHY_INFORMATIONAL = (
    "no metric of the run has a threshold and no profile was used: set one to get a verdict"
)
"""Why nothing was decided."""


def format_run(inputs: ReportInputs) -> str:
    """Return the verdict, the cases that did not pass with their reasons, and the scores."""
    run = inputs.run
    lines: list[Block] = [line(status(run.verdict), f": {headline(run)}"), *_remarks(run)]
    lines += [*_causes(run), *_not_passed(run), *_format_unmatched(run), "", _metrics(run)]
    if judge_rows := judge_cost_table(run):
        lines += ["", TextTable(judge_rows)]
    for label in inputs.by:
        lines += ["", _groups(run, label)]
    lines += attempt_lines(run)
    for comparison in run.summary.modes:
        lines += ["", *_modes(comparison)]
    return join_lines(lines, inputs.display)


def format_some_cases(inputs: ReportInputs, results: Sequence[CaseResult], display: Display) -> str:
    """Return the verdict of a run, and some of its cases with all of their scores."""
    run = inputs.run
    lines: list[Block] = [line(status(run.verdict), f": {headline(run)}")]
    for label in inputs.by:
        lines += ["", _groups(run, label)]
    lines += ["", f"{len(results):,} of {count(run.summary.cases.total, 'case')}"]
    for result in results:
        lines += _explanation(result, every_score=True)
    return join_lines(lines, display)


def attempt_lines(run: Run) -> Iterator[Block]:
    """Yield pass@k, pass^k and the flaky cases of a run with repeated attempts."""
    attempts = run.summary.attempts
    if not attempts:
        return
    yield ""
    yield TextTable([["attempts k", "pass@k", "pass^k", "cases"], *attempt_rows(attempts)])
    if attempts.flaky:
        yield flaky_text(attempts)


def attempt_rows(attempts: AttemptSummary) -> list[list[str]]:
    """Return the cells of pass@k and pass^k for each k."""
    return [
        [f"{rate.k}", number(rate.any_passes), number(rate.all_pass), f"{rate.cases:,}"]
        for rate in attempts.rates
    ]


def attempt_facts(run: Run) -> dict[str, str]:
    """Return pass@k and pass^k by name, and how many attempts at each flaky case passed; nothing
    for a run without repeated attempts."""
    attempts = run.summary.attempts
    if not attempts:
        return {}
    facts: dict[str, str] = {}
    for rate in attempts.rates:
        facts[f"pass@{rate.k}"] = number(rate.any_passes)
        facts[f"pass^{rate.k}"] = number(rate.all_pass)
    for case, (passed, total) in attempts.flaky.items():
        facts[f"flaky: {flat(case)}"] = f"{passed} of {total} passed"
    return facts


def flaky_text(attempts: AttemptSummary) -> str:
    """Name the cases whose attempts have different verdicts."""
    named = [
        f"{flat(case)} ({passed} of {total} passed)"
        for case, (passed, total) in attempts.flaky.items()
    ]
    more = f", and {len(named) - _SHOWN:,} more" if len(named) > _SHOWN else ""
    return f"{count(len(named), 'flaky case')}: {', '.join(named[:_SHOWN])}{more}"


def _causes(run: Run) -> Iterator[Block]:
    """Yield why cases failed, before the cases themselves, if causes can repeat."""
    groups = group_causes(run.cases)
    if sum(group.cases for group in groups) < 2:
        return
    yield ""
    rows = [
        [describe_cause(group.cause), flat(group.cause.subject), f"{group.cases:,}"]
        for group in groups[:_SHOWN]
    ]
    yield TextTable([["why", "", "cases"], *rows], left=(0, 1))
    if (left := len(groups) - _SHOWN) > 0:
        yield f"and {left:,} more"


def format_run_json(inputs: ReportInputs) -> Iterator[str]:
    """Yield the run as its JSON document."""
    head = RESULTS.encode(msgspec.structs.replace(inputs.run, cases=()))
    return format_json_list(head, "cases", encode_items(inputs.run.cases, RESULTS.encode))


def headline(run: Run) -> str:
    """Count the cases of the dataset by status."""
    name = f"{flat(run.dataset.name)}{_version(run)}: " if run.dataset else ""
    return f"{name}{describe_counts(run)} ({run.id})"


def describe_counts(run: Run) -> str:
    """Count the cases by status. Cases that could not be scored and cases to which no deciding
    metric applies are counted separately."""
    counts = run.summary.cases
    if run.verdict == "informational":
        return f"nothing was decided, {count(counts.total, 'case')}{_describe_selection(run)}"
    not_applicable = sum(map(_is_not_applicable, run.cases)) if counts.unscored else 0
    decided = counts.passed + counts.failed + counts.unscored + counts.errors
    parts = [
        f"{number:,} {word}"
        for number, word in (
            (counts.failed, "failed"),
            (counts.errors, "with errors"),
            (counts.unscored - not_applicable, "not scored"),
            (not_applicable, "not applicable"),
            (counts.passed, "passed"),
            (counts.total - decided, "informational"),
        )
        if number
    ]
    return f"{', '.join(parts) or 'no cases scored'} of {counts.total:,}{_describe_selection(run)}"


def _describe_selection(run: Run) -> str:
    """Say so if the run is about a part of the dataset: the rest may not pass."""
    total = run.selection.total if run.selection else None
    return "" if total is None else f", selected from {total:,}"


def _is_not_applicable(result: CaseResult) -> bool:
    """Return whether a case is unscored because it asks nothing of the deciding metrics."""
    if result.status != "unscored" or not result.scores:
        return False
    deciding = [score for score in result.scores if score.threshold is not None]
    return not any(score.could_not_be_scored for score in deciding or result.scores)


class MetricWithoutScores(NamedTuple):
    """A metric that scored no case, and why."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        return f"{self.name} scored no case: {self.reason}"


def metrics_without_scores(run: Run) -> list[MetricWithoutScores]:
    """Return the metrics of the run that scored no case. A verdict says nothing about them."""
    if not run.cases:
        return []
    summaries = run.summary.metrics
    reasons: dict[str, Counter[tuple[bool, str]]] = {
        use.name: Counter()
        for use in run.metrics
        if use.name not in summaries or summaries[use.name].mean is None
    }
    for score in (score for result in run.cases for score in result.scores) if reasons else ():
        if score.metric in reasons:
            reasons[score.metric][bool(score.not_applicable), score.reason] += 1
    return [MetricWithoutScores(name, _join_reasons(reasons[name])) for name in reasons]


def _join_reasons(reasons: Counter[tuple[bool, str]]) -> str:
    """Return the most frequent reason, if possible of a case that asks for the metric."""
    if not reasons:
        return "no case has a trace"
    (_, reason), others = min(reasons, key=lambda key: (key[0], -reasons[key])), len(reasons) - 1
    return shortened(f"{reason} (and {count(others, 'other reason')})" if others else reason, 300)


def _remarks(run: Run) -> Iterator[str]:
    if run.stopped:
        what = "the run" if run.target else "judging"
        yield f"{what} stopped early: {run.stopped}"
    if run.verdict == "informational":
        yield WHY_INFORMATIONAL
    counts = run.summary.cases
    if run.dataset is None and counts.unscored == counts.total:
        yield "no golden data: pass --golden, or choose metrics that need none with -m"
    yield from (flat(metric.text) for metric in metrics_without_scores(run))


def _version(run: Run) -> str:
    return f"@{run.dataset.version}" if run.dataset and run.dataset.version else ""


class NotPassed(NamedTuple):
    """The cases to explain: those that did not pass, and those without a trace."""

    results: Sequence[CaseResult]
    """The first of them, failed ones first."""
    total: int


def not_passed(run: Run, limit: int) -> NotPassed:
    """Find the cases to explain, at most `limit` of them, in one pass."""
    by_status: dict[str, list[CaseResult]] = {name: [] for name in _ORDER}
    total = 0
    for result in run.cases if _has_cases_to_explain(run) else ():
        if result.status != "passed" and (result.status != "info" or result.trace is None):
            total += 1
            results = by_status[result.status]
            if len(results) < limit:
                results.append(result)
    return NotPassed([result for name in _ORDER for result in by_status[name]][:limit], total)


def _has_cases_to_explain(run: Run) -> bool:
    return run.summary.cases.passed < run.summary.cases.total


def explain_result(result: CaseResult) -> str:
    """Say why a case did not pass, as the text report does."""
    return join_lines(_explanation(result)).strip()


def _not_passed(run: Run) -> Iterator[Block]:
    results, total = not_passed(run, _SHOWN)
    for result in results:
        yield from _explanation(result)
    if total > _SHOWN:
        more = f"{total - _SHOWN:,} more that did not pass"
        yield f"\nand {more}; use --format json to list all"


def _format_unmatched(run: Run) -> Iterator[str]:
    if run.unmatched:
        yield f"\n{count(len(run.unmatched), 'trace')} without a case:"
        yield from (f"  {flat(trace.trace)}: {trace.why}" for trace in run.unmatched[:_SHOWN])
    if len(run.unmatched) > _SHOWN:
        yield f"  and {len(run.unmatched) - _SHOWN:,} more"


def _explanation(result: CaseResult, *, every_score: bool = False) -> Iterator[Block]:
    trace = f"trace {flat(result.trace)}, " if result.trace else ""
    name = flat(result.case or result.trace or "")
    yield ""
    yield line(status(result.status), f" {name}  ({trace}{result.paired_by})")
    if result.judgement:
        yield f"  {result.judgement.profile}: {result.judgement.reason}"
    for score in result.scores:
        if every_score or score.status != "passed":
            yield f"  {score.metric} {_score_text(score)}"
            yield from (f"    {reason}" for reason in score.reason.splitlines())
    if result.status == "failed":
        yield from _exchanges(result.exchanges)


def describe_status(score: CaseScore) -> str:
    """Return the status, in words if the metric is unscored."""
    if score.status != "unscored":
        return score.status
    return "not scored" if score.could_not_be_scored else "not applicable"


def _score_text(score: CaseScore) -> str:
    if score.value is None:
        return describe_status(score)
    if score.status == "failed":
        return f"{score.value:.2f}, threshold {score.threshold:g}"
    return f"{score.value:g}"


def _exchanges(exchanges: tuple[Exchange, ...]) -> Iterator[Block]:
    for turn, exchange in enumerate(exchanges, 1):
        if exchange.expected is not None and exchange.expected != exchange.actual:
            yield Preview(f"  turn {turn}: ", exchange.user or "(no message recorded)")
            yield Preview("    expected  ", exchange.expected)
            yield Preview("    actual    ", exchange.actual or "(not recorded)")


def _metrics(run: Run) -> TextTable:
    head = ["metric", "mean", "min", "max", "passed", "failed", "unscored", "errors"]
    rows = [[name, *summary_cells(summary)] for name, summary in run.summary.metrics.items()]
    return TextTable([head, *rows])


def _groups(run: Run, label: str) -> Block:
    groups = [group for group in run.summary.groups if group.by == label]
    if not groups:
        known = ", ".join(dict.fromkeys(group.by for group in run.summary.groups)) or "none"
        return f"cannot break down by {label!r}; available: {known}"
    names = list(run.summary.metrics)
    head = [label, "cases", "passed", "failed", "unscored", *names]
    rows = [
        [
            group.value,
            *integers(group.cases.total, group.cases.passed),
            *integers(group.cases.failed, group.cases.unscored),
            *[number(group.means.get(name)) for name in names],
        ]
        for group in groups
    ]
    return TextTable([head, *rows])


def _modes(comparison: ModeComparison) -> Iterator[Block]:
    first, second = comparison.modes
    yield f"{first} vs. {second}, {count(comparison.pairs, 'pair')} of the same scenario:"
    rows = [
        [name, number(pair.means[0]), number(pair.means[1]), f"{pair.difference:+.3g}"]
        for name, pair in comparison.metrics.items()
    ]
    yield TextTable([["metric", first, second, "difference"], *rows])


def summary_cells(summary: MetricSummary) -> list[str]:
    """Return the cells of a metric's row in a table of metrics."""
    values = [number(value) for value in (summary.mean, summary.min, summary.max)]
    counts = (summary.passed, summary.failed, summary.unscored, summary.errors)
    return [*values, *integers(*counts)]
