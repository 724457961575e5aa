"""Comparisons of two runs, and the gates built on them, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

from carob.report.layout import (
    PLAIN,
    Block,
    Display,
    Part,
    Preview,
    TextTable,
    join_lines,
    line,
    status,
)
from carob.report.text import (
    count,
    flat,
    markdown_cell,
    markdown_table,
    name_list,
    number,
    shortened,
)
from carob.schema import (
    Alignment,
    ComparedRun,
    Comparison,
    FlakyCase,
    Flip,
    FlippedTurn,
    GateResult,
    InputChange,
    MetricComparison,
    Reliability,
)

_SHOWN = 10
_ADJUSTMENTS = {"westfall-young": "joint sign flips (Westfall-Young)", "holm": "Holm's method"}
_HEAD = ["metric", "cases", "before", "after", "difference", "interval", "p", "verdict"]


def format_comparison(comparison: Comparison, display: Display = PLAIN) -> str:
    """Return the verdict, the figures and a sentence for each metric, then the details."""
    return join_lines(_lines(comparison), display)


def _lines(comparison: Comparison) -> Iterator[Block]:
    metrics = compared_metrics(comparison)
    yield line(status(comparison.verdict), f": {comparison.sentence}")
    yield f"before {_run(comparison.before)}"
    yield f"after  {_run(comparison.after)}"
    rows: list[list[Part]] = [
        [*cells[:-1], status(cells[-1])] for cells in map(_metric_row, metrics)
    ]
    if rows:
        yield from ("", TextTable([_HEAD, *rows]))
    if len(metrics) > 1:
        yield f"p adjusted for several metrics by {_ADJUSTMENTS[comparison.adjustment]}"
    if metrics:
        yield from ("", *(f"{metric.name}: {metric.sentence}" for metric in metrics))
    details = [*_details(comparison)]
    yield from ("", *details) if details else ()


def _details(comparison: Comparison) -> Iterator[Block]:
    """Yield changed inputs, flipped cases, and the reliability over repeated attempts."""
    parts: tuple[Iterator[Block], ...] = (
        changed_inputs(comparison),
        _flips(comparison.flips),
        _reliability(comparison.reliability),
        _flaky(comparison.flaky),
    )
    blocks = [lines for part in parts if (lines := [*part])]
    for index, lines in enumerate(blocks):
        yield from lines if index == 0 else ["", *lines]


def format_comparison_markdown(comparison: Comparison) -> str:
    """Return the verdict, a table of metrics, changed inputs and flipped cases."""
    parts = [
        f"### {comparison.verdict}: {markdown_cell(comparison.sentence)}",
        "",
        *markdown_table(_HEAD, map(_metric_row, compared_metrics(comparison))),
    ]
    if changes := [[line] for line in changed_inputs(comparison)]:
        parts += ["", *markdown_table(["differs between the runs"], changes)]
    if comparison.flips:
        rows = map(_flip_row, comparison.flips[:_SHOWN])
        parts += ["", *markdown_table(["case", "before", "after", "reason"], rows)]
        parts += _more_flips(len(comparison.flips))
    return "\n".join(parts) + "\n"


def _run(run: ComparedRun) -> str:
    if run.dataset is None:
        return run.id
    version = f"@{run.dataset.version}" if run.dataset.version else ""
    return f"{run.id}, {run.dataset.name}{version}"


def compared_metrics(comparison: Comparison) -> list[MetricComparison]:
    """Return the pass rate, then the metrics."""
    return [*([comparison.overall] if comparison.overall else []), *comparison.metrics]


def _metric_row(metric: MetricComparison) -> list[str]:
    name = metric.name if metric.deciding else f"{metric.name} (informational)"
    difference = metric.difference
    if difference is None or metric.before is None or metric.after is None:
        return [name, "0", "–", "–", "–", "–", "–", metric.verdict]
    low, high = difference.interval
    return [
        name,
        f"{metric.cases:,}",
        number(metric.before.value),
        number(metric.after.value),
        signed_number(difference.value),
        f"{signed_number(low)} to {signed_number(high)}",
        _p_value(difference.adjusted_p),
        metric.verdict,
    ]


def changed_inputs(comparison: Comparison) -> Iterator[str]:
    """Yield what differs between the runs besides the agent, and how it affects the comparison."""
    yield from map(_changed_input, comparison.changed_inputs)
    yield from _changed_cases(comparison.cases)


def _changed_input(change: InputChange) -> str:
    if change.what == "metric" and change.field == "uses":
        uses = f"used {_times(change.before)} before, {_times(change.after)} after"
        return f"metric {change.name}, {uses}: {change.effect}"
    values = f"{shortened(str(change.before), 40)} → {shortened(str(change.after), 40)}"
    subject = f"{change.what} {change.name}, {change.field}"
    if change.what == change.field:  # counted: `mapper of 2 cases`
        subject = f"{change.what} of {change.name}"
    return f"{subject}: {values}; {change.effect}"


def _times(number: object) -> str:
    return "once" if number == 1 else "not" if number == 0 else f"{number} times"


def _changed_cases(cases: Alignment) -> Iterator[str]:
    for names, change in (
        (cases.added, "only after"),
        (cases.removed, "only before"),
        (cases.changed, "changed, not compared"),
    ):
        if names:
            yield f"{count(len(names), 'case')} {change}: {name_list(names, _SHOWN)}"


def _flips(flips: Sequence[Flip]) -> Iterator[Block]:
    for flip in nsmallest(_SHOWN, flips, key=lambda flip: flip.kind):  # as sorted, but in part
        yield line(status(flip.kind), f" {flat(flip.case)}")
        for score in flip.scores:
            yield f"  {score.metric} {number(score.before)} → {number(score.after)}"
            yield from (f"    {reason}" for reason in score.reason.splitlines())
        yield from _flipped_turns(flip)
    yield from _more_flips(len(flips))


def _flipped_turns(flip: Flip) -> Iterator[Block]:
    for index, turn in enumerate(flip.turns, 1):
        if turn.expected is not None and {turn.before, turn.after} - {turn.expected, None}:
            yield Preview(f"  turn {index}: ", turn.user or "(no message recorded)")
            yield Preview("    expected  ", turn.expected)
            yield from _answers(flip, turn)


def _answers(flip: Flip, turn: FlippedTurn) -> Iterator[Preview]:
    for name, outcome, answer in (
        ("before", flip.before, turn.before),
        ("after ", flip.after, turn.after),
    ):
        # Runs store only the answers of cases that did not pass.
        missing = "(passed)" if outcome == "passed" else "(not recorded)"
        yield Preview(f"    {name}    ", missing if answer is None else answer)


def _more_flips(flips: int) -> Iterator[str]:
    if flips > _SHOWN:
        yield f"and {flips - _SHOWN:,} more that flipped; use --format json to list all"


def _reliability(rows: Iterable[Reliability]) -> Iterator[Block]:
    cells = [
        [f"{row.k}", f"{row.cases:,}", *map(number, (*row.any_passes, *row.all_pass))]
        for row in rows
    ]
    if cells:
        head = ["attempts k", "cases", "pass@k before", "after", "pass^k before", "after"]
        yield TextTable([head, *cells])


def _flaky(cases: Sequence[FlakyCase]) -> Iterator[Block]:
    for case in cases[:_SHOWN]:
        before, after = (f"{side.passed} of {side.total}" for side in (case.before, case.after))
        text = f" {flat(case.case)}: passed {before} before, {after} after"
        yield line(status("flaky"), text)
    if len(cases) > _SHOWN:
        yield f"and {len(cases) - _SHOWN:,} more flaky cases; use --format json to list all"


def _flip_row(flip: Flip) -> list[str]:
    reasons = "; ".join(f"{score.metric}: {score.reason}" for score in flip.scores if score.reason)
    return [flip.case, flip.before, flip.after, shortened(reasons, 200)]


def signed_number(value: float) -> str:
    """Return a difference with its sign; a minus sign, not a hyphen."""
    return f"{'−' if value < 0 else '+'}{number(abs(value))}" if value else "0"


def _p_value(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def format_gate(gate: GateResult, display: Display = PLAIN) -> str:
    """Return the verdict, every check with its reason, then the details of the comparison."""
    return join_lines(_gate_lines(gate), display)


def _gate_lines(gate: GateResult) -> Iterator[Block]:
    verdict, _, counts = _gate_headline(gate).partition(": ")
    yield line(status(verdict), f": {counts}")
    yield ""
    for check in gate.checks:
        yield line(status(check.status), f"  {check.name}: {check.message}")
    yield from _quarantine(gate)
    if gate.comparison:
        details = [*_details(gate.comparison)]
        yield from ("", *details) if details else ()


def format_gate_markdown(gate: GateResult) -> str:
    """Return the gate for a comment on a pull request."""
    checks = [[check.status, check.name, check.message] for check in gate.checks]
    parts = [f"### {_gate_headline(gate)}", ""]
    parts += markdown_table(["status", "check", "reason"], checks)
    if gate.quarantined:
        parts += ["", *(f"- {markdown_cell(line)}" for line in _quarantine(gate))]
    if gate.comparison:
        parts += ["", format_comparison_markdown(gate.comparison).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _gate_headline(gate: GateResult) -> str:
    baseline = f" against baseline {gate.baseline}" if gate.baseline else ""
    failed = sum(check.status == "failed" for check in gate.checks)
    inconclusive = sum(check.status == "inconclusive" for check in gate.checks)
    parts = [count(len(gate.checks), "check")]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{inconclusive} inconclusive"] if inconclusive else []
    verdict = "passed" if gate.passed else "failed"
    return f"{verdict}: {gate.run}{baseline} ({', '.join(parts)})"


def _quarantine(gate: GateResult) -> Iterator[str]:
    for case in gate.quarantined:
        yield (
            f"quarantined  {flat(case.case)}: {case.reason}"
            f" (expires {case.expires}, owner {case.owner})"
        )
