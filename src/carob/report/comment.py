"""A run as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from carob.report.forms import ReportInputs
from carob.report.judge_cost import judge_cost_table
from carob.report.markup import join
from carob.report.run import (
    WHY_INFORMATIONAL,
    attempt_rows,
    describe_status,
    flaky_text,
    headline,
    metrics_without_scores,
    not_passed,
    summary_cells,
)
from carob.report.text import count, markdown_cell, markdown_table, shortened
from carob.schema import CaseResult, CaseScore, Exchange, Run

_MAX_LENGTH = 60_000
"""GitHub rejects comments of more than 65,536 characters; the gate's table may follow."""
_MAX_CASES = 2_000
"""More cases than fit: each takes 60 characters or more."""
_UNFOLDED = 3
"""Number of cases that are shown unfolded."""


def format_comment(inputs: ReportInputs) -> str:
    """Return the verdict, the metrics, and the cases that did not pass, folded after the first."""
    run = inputs.run
    head = ["metric", "mean", "min", "max", "passed", "failed", "unscored", "errors"]
    rows = [[name, *summary_cells(summary)] for name, summary in run.summary.metrics.items()]
    title = f"### {run.verdict}: {markdown_cell(headline(run))}"
    text = "\n".join([title, "", *_remarks(run), *markdown_table(head, rows), *_more(run), ""])
    results, total = not_passed(run, _MAX_CASES)
    for index, result in enumerate(results):
        block = "\n".join(["", *_case(result, index < _UNFOLDED), ""])
        if len(text) + len(block) > _MAX_LENGTH:
            return f"{text}\nAnd {count(total - index, 'more case')} that did not pass.\n"
        text += block
    return text


def _remarks(run: Run) -> Iterator[str]:
    remarks = [f"Judging stopped early: {run.stopped}"] if run.stopped else []
    remarks += [WHY_INFORMATIONAL] if run.verdict == "informational" else []
    remarks += [metric.text for metric in metrics_without_scores(run)]
    if remarks:
        yield from (f"- {markdown_cell(remark)}" for remark in remarks)
        yield ""


def _more(run: Run) -> Iterator[str]:
    """Yield what judges cost, and how often repeated attempts passed."""
    if rows := judge_cost_table(run):
        yield ""
        yield from markdown_table(rows[0], rows[1:])
    if attempts := run.summary.attempts:
        yield ""
        yield from markdown_table(
            ["attempts k", "pass@k", "pass^k", "cases"], attempt_rows(attempts)
        )
        if attempts.flaky:
            yield ""
            yield markdown_cell(flaky_text(attempts))


def _case(result: CaseResult, unfolded: bool) -> Iterator[str]:
    opened = " open" if unfolded else ""
    yield f"<details{opened}><summary>{result.status} {_name(result)}</summary>"
    yield ""
    if result.judgement:
        yield f"- {markdown_cell(result.judgement.profile)}: {_short(result.judgement.reason)}"
    yield from (_score(score) for score in result.scores if score.status not in ("passed", "info"))
    if not result.scores:
        yield f"- {_short(result.paired_by)}"
    yield from _turns(result.exchanges)
    yield ""
    yield "</details>"


def _name(result: CaseResult) -> str:
    """Escape the name as HTML: Markdown is not interpreted inside <summary>."""
    text = shortened(result.case or result.trace or "(no name)", 200).replace("@", "@\u200b")
    return join(text)


def _score(score: CaseScore) -> str:
    value = describe_status(score) if score.value is None else f"{score.value:.3g}"
    threshold = f", threshold {score.threshold:g}" if score.status == "failed" else ""
    reason = f": {_short(score.reason)}" if score.reason else ""
    return f"- {markdown_cell(score.metric)} {value}{threshold}{reason}"


def _turns(exchanges: tuple[Exchange, ...]) -> Iterator[str]:
    rows = [
        [
            str(turn),
            shortened(exchange.user or "(not recorded)", 300),
            shortened(exchange.expected, 600),
            shortened(exchange.actual if exchange.actual is not None else "(not recorded)", 600),
        ]
        for turn, exchange in enumerate(exchanges, 1)
        if exchange.expected is not None and exchange.expected != exchange.actual
    ]
    if rows:
        yield ""
        yield from markdown_table(["turn", "user", "expected", "actual"], rows)


def _short(text: str) -> str:
    return markdown_cell(shortened(text, 600))
