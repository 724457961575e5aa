"""The list of runs, newest first."""

from __future__ import annotations

from typing import Literal

from carob.api import history
from carob.report.markup import Child, Markup, join, tag
from carob.schema.history import HistoryPage, RunEntry
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    choice,
    commands,
    empty,
    filter_form,
    moment,
    rows_table,
    stamp,
    text_field,
)
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 100
_VERDICTS = ("passed", "failed", "inconclusive", "informational")


class RunsQuery(Query, frozen=True):
    """Which runs to list."""

    dataset: str | None = None
    label: str | None = None
    verdict: Literal["passed", "failed", "inconclusive", "informational"] | None = None
    q: str | None = None
    """Part of an id, a dataset or a label, among the runs of this page."""
    after: str | None = None


@pages.get("/runs")
def list_runs(workspace: Workspace, query: RunsQuery) -> Page:
    """List the runs of the store."""
    if not history.store_exists(store=workspace.store):
        return Page(title="Runs", section="Runs", content=[tag("h1", "Runs"), no_runs()])
    listing = history.list_runs(
        dataset=query.dataset,
        labels=dict([_label(query.label)]) if query.label else None,
        limit=_LIMIT,
        start=query.after,
        store=workspace.store,
    )
    shown = [run for run in listing.runs if _matches(run, query)]
    dataset = f" --dataset {query.dataset}" if query.dataset else ""
    return Page(
        title="Runs",
        section="Runs",
        content=[tag("h1", "Runs"), _filters(query), _table(shown), _more(listing, query)],
        command=f"carob runs{dataset}",
        keys=(("j k", "move"), ("enter", "open")),
    )


def no_runs() -> Markup:
    """Return what to do while there are no runs."""
    return empty(
        "No runs yet",
        tag("p", "Every evaluation is stored and appears here."),
        commands("carob run traces.jsonl --golden golden.json"),
        tag("p", "Or ", tag("a", "upload golden data and traces", href="/upload"), "."),
    )


def _label(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _matches(run: RunEntry, query: RunsQuery) -> bool:
    if query.verdict and run.verdict != query.verdict:
        return False
    labels = (f"{name}={value}" for name, value in run.labels.items())
    text = " ".join((run.id, run.dataset or "", run.version or "", *labels)).casefold()
    return all(word in text for word in (query.q or "").casefold().split())


def _filters(query: RunsQuery) -> Markup:
    verdicts = [(verdict, verdict) for verdict in _VERDICTS]
    fields = [
        choice("verdict", "verdict", verdicts, query.verdict),
        text_field("text", "q", query.q),
    ]
    return filter_form("/runs", fields, {"dataset": query.dataset, "label": query.label})


def _table(runs: list[RunEntry]) -> Markup:
    if not runs:
        return tag("p", "No run matches.", class_="quiet")
    head: list[Child] = ["verdict", "run", "dataset", "#passed", "#change", "when", "labels"]
    return run_table("Runs", head, [_row(run) for run in runs])


def run_table(caption: str, head: list[Child], rows: list[Markup]) -> Markup:
    """Return a table whose rows can be walked by keys."""
    return rows_table(caption, head, rows, "list")


def _row(run: RunEntry) -> Markup:
    return tag(
        "tr",
        tag("td", stamp(run.verdict)),
        tag("th", tag("a", run.id, href=address("runs", run.id), class_="mono"), scope="row"),
        tag("td", dataset_link(run)),
        tag("td", f"{run.cases.passed:,} / {run.cases.total:,}", class_="n"),
        tag("td", pass_change(run), class_="n"),
        tag("td", moment(run.created_at), class_="quiet"),
        tag("td", _labels(run)),
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


def _labels(run: RunEntry) -> Markup:
    labels = [f"{name}={value}" for name, value in run.labels.items()]
    links = [tag("a", text, href=address("runs", label=text), class_="chip") for text in labels]
    return join([[link, " "] for link in links])


def _more(listing: HistoryPage, query: RunsQuery) -> Markup | None:
    if listing.next is None:
        return None
    link = address(
        "runs",
        dataset=query.dataset,
        label=query.label,
        verdict=query.verdict,
        q=query.q,
        after=listing.next,
    )
    return tag("p", tag("a", "Older runs", href=link, rel="next"))
