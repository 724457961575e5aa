"""A run as Markdown for a comment on a pull request, which may have 65,536 characters."""

from __future__ import annotations

from collections.abc import Iterator

from carob.report.judge_cost import spending
from carob.report.markup import join
from carob.report.run import headline, in_order, numbers
from carob.report.text import count, markdown_cell, markdown_table, shortened
from carob.schema import CaseResult, CaseScore, Exchange, Run

_MOST = 60_000
_OPEN = 3
"""Cases that are shown in full without a click."""


def comment(run: Run) -> str:
    """The verdict, the metrics, and each case that did not pass, folded but for the first."""
    head = ["metric", "mean", "min", "max", "passed", "failed", "unscored", "errors"]
    rows = [[name, *numbers(one)] for name, one in run.summary.metrics.items()]
    title = f"### {run.verdict}: {markdown_cell(headline(run))}"
    made = "\n".join([title, "", *_stopped(run), *markdown_table(head, rows), *_judges(run), ""])
    troubled = [one for one in in_order(run) if one.status != "passed"]
    for index, one in enumerate(troubled):
        block = "\n".join(["", *_case(one, index < _OPEN), ""])
        if len(made) + len(block) > _MOST:
            return f"{made}\nAnd {count(len(troubled) - index, 'case')} more that did not pass.\n"
        made += block
    return made


def _stopped(run: Run) -> Iterator[str]:
    if run.stopped:
        yield f"Not everything was judged: {markdown_cell(run.stopped)}."
        yield ""


def _judges(run: Run) -> Iterator[str]:
    if judges := spending(run):
        yield ""
        yield from markdown_table(judges[0], judges[1:])


def _case(one: CaseResult, unfolded: bool) -> Iterator[str]:
    yield f"<details{' open' if unfolded else ''}><summary>{one.status} {_name(one)}</summary>"
    yield ""
    if one.judgement:
        yield f"- {markdown_cell(one.judgement.profile)}: {_short(one.judgement.reason)}"
    yield from (_score(score) for score in one.scores if score.status not in ("passed", "info"))
    if not one.scores:
        yield f"- {_short(one.paired_by)}"
    yield from _turns(one.exchanges)
    yield ""
    yield "</details>"


def _name(one: CaseResult) -> str:
    """In a tag of HTML, where Markdown is not read."""
    text = shortened(one.case or one.trace or "(no name)", 200).replace("@", "@\u200b")
    return join(text)


def _score(score: CaseScore) -> str:
    value = score.status if score.value is None else f"{score.value:.3g}"
    threshold = f", threshold {score.threshold:g}" if score.status == "failed" else ""
    reason = f": {_short(score.reason)}" if score.reason else ""
    return f"- {markdown_cell(score.metric)} {value}{threshold}{reason}"


def _turns(exchanges: tuple[Exchange, ...]) -> Iterator[str]:
    rows = [
        [
            str(turn),
            shortened(one.user or "(not recorded)", 300),
            shortened(one.expected, 600),
            shortened(one.actual if one.actual is not None else "(not recorded)", 600),
        ]
        for turn, one in enumerate(exchanges, 1)
        if one.expected is not None and one.expected != one.actual
    ]
    if rows:
        yield ""
        yield from markdown_table(["turn", "user", "expected", "actual"], rows)


def _short(text: str) -> str:
    return markdown_cell(shortened(text, 600))
