"""Leaderboards as text, Markdown, CSV and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache
from importlib import resources

from carob.report.html.parts import table
from carob.report.layout import PLAIN, Block, Display, Part, TextTable, join_lines
from carob.report.markup import Markup, tag
from carob.report.text import count, markdown_cell, markdown_table, number
from carob.schema.leaderboard import Leaderboard, RankedRun

_HEAD = ["rank", "run", "value", "interval", "to the best", "interval", "p", "cost", "latency", ""]


def format_leaderboard(board: Leaderboard, display: Display = PLAIN) -> str:
    """Return the ranking, how to read it, and the cases on which the runs disagree."""
    return join_lines(_lines(board), display)


def _lines(board: Leaderboard) -> Iterator[Block]:
    yield leaderboard_title(board)
    rows: list[list[Part]] = [[*_row(run)] for run in board.runs]
    yield from ("", TextTable([_HEAD, *rows]))
    yield from ("", *leaderboard_notes(board))
    if board.separating:
        head: list[Part] = ["cases that separate the runs", *(run.name for run in board.runs)]
        cases: list[list[Part]] = [
            [item.case, *map(number, item.values)] for item in board.separating
        ]
        yield from ("", TextTable([head, *cases]))


def leaderboard_title(board: Leaderboard) -> str:
    """Say what is ranked, and on how many cases."""
    left_out = f", {count(board.left_out, 'case')} left out" if board.left_out else ""
    runs, cases = count(len(board.runs), "run"), count(board.cases, "case")
    return f"{board.metric} of {runs} on {cases}{left_out}"


def leaderboard_notes(board: Leaderboard) -> Iterator[str]:
    """Yield how to read the ranking."""
    if board.different_rules:
        yield f"pass rates by different rules: {', '.join(board.different_rules)}"
    yield (
        f"equal ranks: no significant difference at alpha {board.alpha:g};"
        " p adjusted for all pairs of runs by Holm's method"
    )
    if any(run.cost is not None or run.latency is not None for run in board.runs):
        yield "efficient: no other run is as good, as cheap and as fast, and better in one"
    if board.left_out:
        yield "left out: cases that some run lacks, changed, or could not score"


def _row(run: RankedRun) -> list[str]:
    return [
        str(run.rank),
        run.name,
        number(run.value),
        _interval(run.interval),
        "–" if run.difference is None else f"{run.difference:+.3g}",
        _interval(run.difference_interval),
        "–" if run.p is None else f"{run.p:.2g}",
        "–" if run.cost is None else f"${run.cost:.3g}",
        "–" if run.latency is None else f"{run.latency:,.0f} ms",
        "efficient" if run.efficient else "",
    ]


def _interval(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"[{number(interval[0])}, {number(interval[1])}]"


def format_leaderboard_markdown(board: Leaderboard) -> str:
    """Return the ranking as a Markdown table."""
    rows = ([markdown_cell(cell) for cell in _row(run)] for run in board.runs)
    lines = [f"### {markdown_cell(leaderboard_title(board))}", "", *markdown_table(_HEAD, rows), ""]
    return "\n".join([*lines, *(f"- {note}" for note in leaderboard_notes(board))]) + "\n"


def format_leaderboard_csv(board: Leaderboard) -> str:
    """Return the ranking as CSV, with all digits."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(RankedRun.__struct_fields__)
    for run in board.runs:
        fields = [getattr(run, name) for name in RankedRun.__struct_fields__]
        writer.writerow(["" if value is None else _cell(value) for value in fields])
    return output.getvalue()


def _cell(value: object) -> object:
    return " ".join(map(str, value)) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def format_leaderboard_html(board: Leaderboard) -> str:
    """Return the ranking as one HTML file that loads nothing."""
    separating = table(
        "Cases that separate the runs",
        ["case", *(run.name for run in board.runs)],
        [[item.case, *map(number, item.values)] for item in board.separating],
    )
    body = tag(
        "main",
        tag("h1", leaderboard_title(board)),
        table("Ranking", [*_HEAD], [[*_row(run)] for run in board.runs]),
        [tag("p", note) for note in leaderboard_notes(board)],
        separating if board.separating else None,
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", leaderboard_title(board)),
        tag("style", _styles()),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


@cache
def _styles() -> Markup:
    folder = resources.files("carob.report.html")
    return Markup(
        "".join((folder / name).read_text("utf-8") for name in ("design.css", "report.css"))
    )
