"""The list of runs, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from carob.api import history
from carob.api.running.unfinished import list_unfinished
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Verdict
from carob.schema.history import HistoryPage, RunEntry
from carob.server.binding import Query
from carob.server.pages.datasets import drop_form
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    chips,
    choice,
    commands,
    empty,
    filter_form,
    label_chips,
    link_button,
    moment,
    rows_table,
    stamp,
    text_field,
)
from carob.server.pages.progress import unfinished_list
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 100
_SORTS = (("worst", "worst first"), ("dataset", "by dataset"))


class RunsPageQuery(Query, frozen=True):
    """Which runs to list."""

    dataset: str | None = None
    label: str | None = None
    verdict: Verdict | None = None
    q: str | None = None
    """Part of an id, a dataset or a label."""
    sort: history.RunSort | None = None
    """Of the runs of this page; newest first if left out."""
    focus: str | None = None
    """Set by the key that searches from other pages."""
    after: str | None = None


@pages.get("/runs")
def list_runs(workspace: Workspace, query: RunsPageQuery) -> Page:
    """List the runs of the store."""
    if not history.store_exists(store=workspace.store):
        return Page(title="Runs", section="Runs", content=[tag("h1", "Runs"), no_runs()])
    found = history.search_runs(
        dataset=query.dataset,
        labels=dict([_label(query.label)]) if query.label else None,
        verdict=query.verdict,
        text=query.q,
        sort=query.sort,
        limit=_LIMIT,
        start=query.after,
        store=workspace.store,
    )
    runs = found.runs
    first = not (query.dataset or query.label or query.verdict or query.q or query.after)
    is_empty = first and not runs
    return Page(
        title="Runs",
        section="Runs",
        content=[
            tag(
                "div",
                tag("h1", f"Runs of {query.dataset}" if query.dataset else "Runs"),
                tag("div", link_button("Leaderboards", "/leaderboards"), class_="actions"),
                class_="top",
            ),
            None if is_empty else _filters(query),
            tag(
                "div",
                unfinished_list(list_unfinished(workspace.store)) if first else None,
                no_runs() if is_empty else _table(runs, query),
                _more(found, query),
                id="runs",
                data_refresh="run",
            ),
        ],
        command=("runs", *_arguments(query), *workspace.store_arguments),
        keys=(
            ("j k", "move"),
            ("enter", "open"),
            ("x", "select"),
            ("c", "compare two"),
            ("/", "search"),
        ),
    )


def _arguments(query: RunsPageQuery) -> Iterator[str]:
    """Yield the options of `carob runs` that list the same."""
    yield from ("--limit", str(_LIMIT))
    for option, value in (
        ("--dataset", query.dataset),
        ("--label", query.label),
        ("--verdict", query.verdict),
        ("--text", query.q),
        ("--sort", query.sort),
        ("--start", query.after),
    ):
        if value:
            yield f"{option}={value}"


def no_runs() -> Markup:
    """Return what to do while there are no runs."""
    return join(
        [
            empty(
                "No runs yet",
                tag("p", "Every evaluation is stored and appears here."),
                commands("carob run traces.jsonl --golden golden.json"),
            ),
            drop_form(
                "Or upload traces, and choose the golden data next", "/upload/traces", "Upload"
            ),
        ]
    )


def _label(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _filters(query: RunsPageQuery) -> Markup:
    verdicts = [(verdict, verdict) for verdict in get_args(Verdict)]
    fields = [
        choice("verdict", "verdict", verdicts, query.verdict),
        choice("order", "sort", _SORTS, query.sort, default="newest first"),
        text_field("text in ids, datasets, labels", "q", query.q),
    ]
    hidden = {"dataset": query.dataset, "label": query.label}
    return filter_form("/runs", fields, hidden, region="runs")


def _table(runs: Sequence[RunEntry], query: RunsPageQuery) -> Markup:
    if not runs:
        return tag("p", "No run matches. ", tag("a", "Show all", href="/runs"))
    head: list[Child] = [
        tag("span", "select", class_="unseen"),
        "verdict",
        "run",
        "dataset",
        "#passed",
        "#change",
        "when (UTC)",
        "labels",
    ]
    chosen = [
        [tag("a", f"{name}: {value} ×", href=link, class_="chip on"), " "]
        for name, value, link in (
            ("dataset", query.dataset, address("runs", label=query.label, q=query.q)),
            ("label", query.label, address("runs", dataset=query.dataset, q=query.q)),
        )
        if value
    ]
    # Forms send check boxes in the order of the page, newest first: the first is the run to judge.
    compare = tag("button", tag("kbd", "c"), "Compare two", type="submit", data_key="c")
    rank = tag("button", "Rank selected", type="submit", formaction="/leaderboards")
    return tag(
        "form",
        tag(
            "div",
            tag("div", compare, rank, class_="actions") if len(runs) > 1 else None,
            tag("p", chosen, tag("span", count(len(runs), "run"), role="status"), class_="quiet"),
            class_="toolbar",
        ),
        rows_table("Runs", head, [_row(run) for run in runs], "list"),
        action="/compare",
    )


def _row(run: RunEntry) -> Markup:
    box = tag(
        "input", type="checkbox", name="pick", value=run.address, aria_label=f"select {run.address}"
    )
    return tag(
        "tr",
        tag("td", box, class_="box"),
        tag("td", stamp(run.verdict)),
        tag(
            "th",
            tag("a", run.address, href=address("runs", run.address), class_="mono"),
            scope="row",
        ),
        tag("td", dataset_link(run), dir="auto"),
        tag("td", f"{run.cases.passed:,} / {run.cases.total:,}", class_="n"),
        tag("td", pass_change(run), class_="n"),
        tag("td", moment(run.created_at), class_="quiet"),
        tag("td", chips(label_chips(run.labels), 4), class_="chips", dir="auto"),
        data_id=f"{run.id} {run.created_at}",
    )


def dataset_link(run: RunEntry) -> Markup | str:
    """Return the dataset of a run as a filter."""
    if run.dataset is None:
        return tag("span", "no golden data", class_="quiet")
    name = f"{run.dataset} {run.version or ''}".rstrip()
    return tag("a", name, href=address("runs", dataset=run.dataset))


def pass_change(run: RunEntry) -> Markup | str:
    """Return how the share of passed cases changed since the run before."""
    change = run.change
    if change is None or change.pass_rate is None:
        return ""
    if change.same_results:
        return tag("span", "same", class_="quiet")
    points = change.pass_rate * 100
    if abs(points) < 0.05:
        return tag("span", "±0", class_="quiet")
    text = f"{'−' if points < 0 else '+'}{abs(points):.3g} pp {'▼' if points < 0 else '▲'}"
    return tag("span", text, class_="failed" if points < 0 else "passed")


def _more(listing: HistoryPage, query: RunsPageQuery) -> Markup | None:
    if listing.next is None:
        return None
    link = address(
        "runs",
        dataset=query.dataset,
        label=query.label,
        verdict=query.verdict,
        q=query.q,
        sort=query.sort,
        after=listing.next,
    )
    return tag("p", tag("a", "Older runs", href=link, rel="next"))
