"""Leaderboards: the runs of a batch, or runs that were picked, ranked with paired statistics."""

from __future__ import annotations

from collections.abc import Sequence

from carob.api import history
from carob.api.leaderboard import PASS_RATE, leaderboard, list_batches, rank_stored_runs
from carob.report.html.parts import breakable
from carob.report.leaderboard import leaderboard_notes, leaderboard_title
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema.leaderboard import Leaderboard, RankedRun, SeparatingCase
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    commands,
    empty,
    filter_form,
    p_value,
    rows_table,
    score,
)
from carob.server.workspace import Workspace

pages = Pages()
_SINGLE = "needs a second run to rank"


class BatchPath(Query, frozen=True):
    """A batch."""

    batch: str


class LeaderboardQuery(Query, frozen=True):
    """What ranks the runs, and the runs unless they are those of a batch."""

    metric: str = PASS_RATE
    pick: tuple[str, ...] = ()


@pages.get("/leaderboards")
def show_leaderboards(workspace: Workspace, query: LeaderboardQuery) -> Page:
    """Rank the runs that were picked, or list the batches."""
    if query.pick:
        picked = tuple(dict.fromkeys(query.pick))
        board = rank_stored_runs(picked, metric=query.metric, store=workspace.store)
        return _page(workspace, board, "picked runs", picked)
    has_store = history.store_exists(store=workspace.store)
    batches = list_batches(store=workspace.store) if has_store else []
    rows = [
        tag(
            "tr",
            tag(
                "th",
                tag("a", batch.name, href=address("leaderboards", batch.name))
                if batch.runs > 1
                else batch.name,
                scope="row",
                dir="auto",
            ),
            tag("td", f"{batch.runs:,}", class_="n"),
            tag("td", "" if batch.runs > 1 else _SINGLE, class_="quiet"),
        )
        for batch in batches
    ]
    return Page(
        title="Leaderboards",
        section="Runs",
        crumbs=(("Runs", "/runs"), ("Leaderboards", "")),
        content=[
            tag("h1", "Leaderboards"),
            tag("p", "Select runs of the same cases in the list of runs to rank them.")
            if rows
            else _no_batches(),
            rows_table("Batches", ["batch", "#runs", ""], rows, "list") if rows else None,
        ],
        keys=(("j k", "move"), ("enter", "open")),
    )


@pages.get("/leaderboards/{batch:path}")
def show_batch(workspace: Workspace, path: BatchPath, query: LeaderboardQuery) -> Page:
    """Rank the runs of a batch."""
    board = leaderboard(batch=path.batch, metric=query.metric, store=workspace.store)
    return _page(workspace, board, path.batch, ())


def _no_batches() -> Markup:
    return empty(
        "No batch of runs yet",
        tag("p", "A [matrix] in carob.toml makes one run for each model, prompt or judge:"),
        commands("carob run --matrix"),
        tag(
            "p",
            "Or give runs the same label, ",
            tag("code", "--label batch=NAME"),
            ", or select runs in the ",
            tag("a", "list of runs", href="/runs"),
            ".",
        ),
    )


def _page(workspace: Workspace, board: Leaderboard, name: str, picked: tuple[str, ...]) -> Page:
    metric = () if board.metric == PASS_RATE else ("--metric", board.metric)
    which = picked or ("--batch", name)
    return Page(
        title=f"Leaderboard of {name}",
        section="Runs",
        crumbs=(("Runs", "/runs"), ("Leaderboards", "/leaderboards"), (name, "")),
        content=[
            tag("h1", _headline(board)),
            tag("p", leaderboard_title(board), class_="lead"),
            _metric_form(workspace, board, name, picked),
            _ranking(board),
            [
                tag("p", f"{note[:1].upper()}{note[1:]}.", class_="note")
                for note in leaderboard_notes(board)
            ],
            _separating(board),
        ],
        command=("leaderboard", *which, *metric, *workspace.store_arguments),
        keys=(("j k", "move"), ("enter", "open")),
    )


def _headline(board: Leaderboard) -> Markup:
    """Say who wins, or that nobody is proven to."""
    best = [run for run in board.runs if run.rank == 1]
    if len(best) == 1:
        return tag("span", tag("bdi", best[0].name), " is the best.")
    if len(best) == len(board.runs):
        return tag("span", f"No proven difference between {count(len(best), 'run')}.")
    return tag("span", f"{count(len(best), 'run')} share the first rank.")


def _metric_form(
    workspace: Workspace, board: Leaderboard, name: str, picked: Sequence[str]
) -> Markup:
    specs = history.stored_run(board.runs[0].run, store=workspace.store).metrics
    names = [PASS_RATE, *(spec.name for spec in specs)]
    options = [
        tag("option", name, value=name, selected=name == board.metric)
        for name in dict.fromkeys([*names, board.metric])
    ]
    field = tag("label", tag("span", "rank by"), tag("select", options, name="metric"))
    chosen = [tag("input", type="hidden", name="pick", value=run) for run in picked]
    where = "/leaderboards" if picked else address("leaderboards", name)
    return filter_form(where, [*chosen, field], {}, button="Rank")


def _ranking(board: Leaderboard) -> Markup:
    head: list[Child] = [
        "#rank",
        "run",
        f"#{board.metric}",
        "#interval",
        "#to the best",
        "#interval",
        "",
        "#p",
        "#cost",
        "#latency",
        "",
    ]
    reach = max(
        (abs(end) for run in board.runs for end in run.difference_interval or ()), default=0
    )
    ranks = [run.rank for run in board.runs]
    rows = [_row(run, reach, is_tie=ranks.count(run.rank) > 1) for run in board.runs]
    return rows_table("Ranking", head, rows, "list")


def _row(run: RankedRun, reach: float, *, is_tie: bool) -> Markup:
    mark = None
    if run.efficient:
        title = "No other run is at least as good in quality, cost and latency."
        mark = tag("span", "◆ efficient", class_="quiet nowrap", title=title)
    rank = [f"{run.rank}", tag("span", " tie", class_="quiet") if is_tie else None]
    return tag(
        "tr",
        tag("td", rank, class_="n"),
        tag(
            "th",
            tag("a", run.name, href=address("runs", run.run)),
            tag("small", run.run, class_="mono") if run.name != run.run else None,
            scope="row",
            dir="auto",
        ),
        tag("td", score(run.value), class_="n"),
        tag("td", _interval(run.interval), class_="n quiet"),
        tag("td", _difference(run), class_="n"),
        tag("td", _interval(run.difference_interval), class_="n quiet"),
        tag("td", _bar(run, reach), class_="interval-cell"),
        tag("td", "" if run.p is None else p_value(run.p), class_="n"),
        tag("td", "–" if run.cost is None else f"${run.cost:.3g}", class_="n"),
        tag("td", "–" if run.latency is None else f"{run.latency:,.0f} ms", class_="n"),
        tag("td", mark),
        data_id=run.run,
    )


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{score(interval[0])}, {score(interval[1])}]"


def _difference(run: RankedRun) -> str:
    if run.difference is None:
        return "best"
    return f"+{score(run.difference)}" if run.difference > 0 else score(run.difference)


def _bar(run: RankedRun, reach: float) -> Markup | None:
    """Draw the interval of the difference to the best run; zero is the line."""
    if run.difference_interval is None or not reach:
        return None
    low, high = run.difference_interval

    def x(value: float) -> float:
        return 50 + 48 * value / reach

    fill = "fill-failed" if run.rank > 1 and low * high > 0 else "fill-unscored"
    return tag(
        "svg",
        tag("rect", x=x(low), y=3, width=max(x(high) - x(low), 0.8), height=6, class_=fill),
        tag("line", x1=50, x2=50, y1=0, y2=12, class_="axis"),
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        class_="interval",
        role="img",
        aria_label=f"difference from {score(low)} to {score(high)}",
    )


def _separating(board: Leaderboard) -> Markup | None:
    if not board.separating:
        return tag("p", "No case separates the runs.", class_="quiet")
    head: list[Child] = ["case", *(f"#{run.name}" for run in board.runs)]
    rows = [_case_row(board, item) for item in board.separating]
    title = f"Cases that separate the runs: {len(rows)}"
    return tag("section", tag("h2", title), rows_table("Cases that separate", head, rows, "list"))


def _case_row(board: Leaderboard, item: SeparatingCase) -> Markup:
    known = [value for value in item.values if value is not None]
    worst = (min if board.better == "higher" else max)(known, default=None)
    cells = [
        tag(
            "td",
            tag("a", score(value), href=address("runs", run.run, "cases", item.case)),
            class_="n failed" if value == worst else "n",
        )
        for run, value in zip(board.runs, item.values, strict=True)
    ]
    return tag("tr", tag("th", breakable(item.case), scope="row", dir="auto"), cells)
