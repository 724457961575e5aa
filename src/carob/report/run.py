"""A run as text for a person, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from carob.report.judge_cost import spending
from carob.report.text import columns, count, flat, printable, shortened
from carob.schema import CaseResult, CaseScore, Exchange, MetricSummary, ModeComparison, Run

_SHOWN = 10
_ORDER = {"failed": 0, "error": 1, "unscored": 2, "passed": 3}
_CSV = ("case", "trace", "status", "metric", "score_status", "value", "threshold", "reason")


def text(run: Run, by: Sequence[str] = ()) -> str:
    """The verdict, what did not pass with its reasons, and the numbers, broken down if asked."""
    lines = [f"{run.verdict}: {headline(run)}", *_remarks(run), *_troubles(run), "", *_table(run)]
    if judges := spending(run):
        lines += ["", *columns(judges)]
    for label in by:
        lines += ["", *_groups(run, label)]
    for one in run.summary.modes:
        lines += ["", *_modes(one)]
    return "\n".join(printable(line) for line in lines) + "\n"


def table(run: Run) -> str:
    """One row for each score."""
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(_CSV)
    for result in run.cases:
        for one in result.scores or (None,):
            writer.writerow([_cell(value) for value in _csv_row(result, one)])
    return made.getvalue()


def _csv_row(result: CaseResult, one: CaseScore | None) -> tuple[object, ...]:
    about = (result.case, result.trace, result.status)
    if one is None:
        return (*about, None, None, None, None, result.paired_by)
    return (*about, one.metric, one.status, one.value, one.threshold, one.reason)


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula gets a quote in front."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


def headline(run: Run) -> str:
    """How many cases of which dataset did and did not pass."""
    counts = run.summary.cases
    parts = [
        f"{number} {word}"
        for number, word in (
            (counts.failed, "failed"),
            (counts.errors, "with errors"),
            (counts.unscored, "unscored"),
            (counts.passed, "passed"),
        )
        if number
    ]
    name = f"{flat(run.dataset.name)}{_version(run)}: " if run.dataset else ""
    return f"{name}{', '.join(parts) or 'nothing was scored'} of {counts.total} ({run.id})"


def _remarks(run: Run) -> Iterator[str]:
    if run.stopped:
        yield f"not everything was judged: {run.stopped}"
    counts = run.summary.cases
    if run.dataset is None and counts.unscored == counts.total:
        yield "there was no golden data: name it with --golden, or metrics that need none with -m"


def _version(run: Run) -> str:
    return f"@{run.dataset.version}" if run.dataset and run.dataset.version else ""


def in_order(run: Run) -> list[CaseResult]:
    """The cases, those that did not pass first."""
    return sorted(run.cases, key=lambda one: _ORDER[one.status])


def trouble(one: CaseResult) -> str:
    """Why a pair did not pass, as in the text of the run."""
    return "\n".join(printable(line) for line in _trouble(one)).strip()


def _troubles(run: Run) -> Iterator[str]:
    troubled = [one for one in in_order(run) if one.status != "passed"]
    for one in troubled[:_SHOWN]:
        yield from _trouble(one)
    if len(troubled) > _SHOWN:
        yield f"\nand {len(troubled) - _SHOWN} more that did not pass; all are in --format json"
    if run.unmatched:
        yield f"\n{count(len(run.unmatched), 'trace')} without a case:"
        yield from (f"  {flat(one.trace)}: {one.why}" for one in run.unmatched[:_SHOWN])
    if len(run.unmatched) > _SHOWN:
        yield f"  and {len(run.unmatched) - _SHOWN} more"


def _trouble(one: CaseResult) -> Iterator[str]:
    trace = f"trace {flat(one.trace)}, " if one.trace else ""
    yield f"\n{one.status} {flat(one.case or one.trace or '')}  ({trace}{one.paired_by})"
    if one.judgement:
        yield f"  {one.judgement.profile}: {one.judgement.reason}"
    for score in one.scores:
        if score.status != "passed":
            yield f"  {score.metric} {_verdict(score)}"
            yield from (f"    {line}" for line in score.reason.splitlines())
    if one.status == "failed":
        yield from _exchange(one.exchanges)


def _verdict(score: CaseScore) -> str:
    if score.value is None:
        return score.status
    if score.status == "failed":
        return f"{score.value:.2f}, threshold {score.threshold:g}"
    return f"{score.value:g}"


def _exchange(exchanges: tuple[Exchange, ...]) -> Iterator[str]:
    for number, one in enumerate(exchanges, 1):
        if one.expected is not None and one.expected != one.actual:
            yield f"  turn {number}: {shortened(one.user or '(no message recorded)')}"
            yield f"    expected  {shortened(one.expected)}"
            yield f"    actual    {shortened(one.actual or '(not recorded)')}"


def _table(run: Run) -> Iterator[str]:
    head = ["metric", "mean", "min", "max", "passed", "failed", "unscored", "errors"]
    rows = [[name, *numbers(one)] for name, one in run.summary.metrics.items()]
    yield from columns([head, *rows])


def _groups(run: Run, label: str) -> Iterator[str]:
    groups = [group for group in run.summary.groups if group.by == label]
    if not groups:
        known = ", ".join(dict.fromkeys(group.by for group in run.summary.groups)) or "nothing"
        yield f"nothing to break down by {label!r}; there is {known}"
        return
    names = list(run.summary.metrics)
    head = [label, "cases", "passed", "failed", "unscored", *names]
    rows = [
        [
            group.value,
            *map(str, (group.cases.total, group.cases.passed)),
            *map(str, (group.cases.failed, group.cases.unscored)),
            *[_number(group.means.get(name)) for name in names],
        ]
        for group in groups
    ]
    yield from columns([head, *rows])


def _modes(one: ModeComparison) -> Iterator[str]:
    first, second = one.modes
    yield f"{first} against {second}, {count(one.pairs, 'pair')} of the same scenario:"
    rows = [
        [name, _number(pair.means[0]), _number(pair.means[1]), f"{pair.difference:+.3g}"]
        for name, pair in one.metrics.items()
    ]
    yield from columns([["metric", first, second, "difference"], *rows])


def numbers(one: MetricSummary) -> list[str]:
    """What a table of metrics has in each row."""
    values = [_number(value) for value in (one.mean, one.min, one.max)]
    return [*values, *map(str, (one.passed, one.failed, one.unscored, one.errors))]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
