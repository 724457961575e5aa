"""Runs in progress that other processes make, such as `carob run --on ray`, by their shards."""

from __future__ import annotations

from collections.abc import Sequence

from carob.api.running.unfinished import list_unfinished
from carob.report.markup import Markup, tag
from carob.schema.history import UnfinishedRun
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, moment
from carob.server.workspace import Workspace

pages = Pages()


class ProgressPath(Query, frozen=True):
    """A run in progress."""

    key: str


@pages.get("/progress/{key}")
def show_progress(workspace: Workspace, path: ProgressPath) -> Page | Redirect:
    """Show how many shards of a run are scored; the list of runs as soon as it is complete."""
    runs = list_unfinished(workspace.store)
    run = next((run for run in runs if run.key == path.key), None)
    if run is None:
        return Redirect("/runs")
    name = _name(run)
    return Page(
        title=f"In progress: {name}",
        section="Runs",
        crumbs=(("Runs", "/runs"), (path.key, "")),
        content=[
            tag(
                "div",
                tag("h1", f"In progress: {name}"),
                _bar(run),
                tag("p", _status(run), role="status", class_="quiet"),
                tag("p", "started ", moment(run.started_at), class_="quiet"),
                tag(
                    "p",
                    "Another process makes this run. If that was stopped, run its command again: "
                    "what is scored is not scored again.",
                ),
                tag("p", tag("a", "Refresh", href=address("progress", run.key)))
                if run.finished < run.shards
                else None,
                id="progress",
                data_poll="1",
            )
        ],
    )


def unfinished_list(runs: Sequence[UnfinishedRun]) -> Markup | None:
    """Return the runs in progress, each with a bar, or nothing if there are none."""
    if not runs:
        return None
    items = [
        tag(
            "li",
            tag("a", _name(run), href=address("progress", run.key)),
            " ",
            _bar(run),
            f" {_status(run)}, started ",
            moment(run.started_at),
        )
        for run in runs
    ]
    return tag("section", tag("h2", "In progress"), tag("ul", items))


def _name(run: UnfinishedRun) -> str:
    return run.dataset or "traces without golden data"


def _status(run: UnfinishedRun) -> str:
    return f"{run.finished:,} of {run.shards:,} shards scored"


def _bar(run: UnfinishedRun) -> Markup:
    return tag(
        "progress", value=str(run.finished), max=str(run.shards or 1), aria_label=_status(run)
    )
