"""The review queues, and how to start one."""

from __future__ import annotations

from carob.api import history
from carob.api.review import create_queue, list_queues
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, tag
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, commands, empty, minute, rows_table, score
from carob.server.pages.review import gate_text, kappa_bar
from carob.server.workspace import Workspace

pages = Pages()


class ReviewQuery(Query, frozen=True):
    """The run to make a queue of."""

    run: str | None = None


class NewQueue(Query, frozen=True):
    """The answers to review."""

    run: str
    metric: str


@pages.get("/review")
def show_queues(workspace: Workspace, query: ReviewQuery) -> Page:
    """List the queues, and offer to make one."""
    queues = list_queues(store=workspace.store)
    head: list[Child] = ["metric", "run", "#labelled", "#κ", "interval", "may gate"]
    rows = [
        tag(
            "tr",
            tag(
                "th",
                tag("a", breakable(queue.metric), href=address("review", queue.id)),
                scope="row",
            ),
            tag("td", tag("a", queue.run, href=address("runs", queue.run), class_="mono")),
            tag("td", f"{queue.labelled:,} of {queue.items:,}", class_="n"),
            tag("td", score(queue.kappa.value) if queue.kappa else "–", class_="n"),
            tag("td", kappa_bar(queue), class_="interval-cell"),
            tag("td", gate_text(queue), class_="wrap"),
        )
        for queue in queues
    ]
    nothing = empty(
        "Nothing is waiting for review",
        tag("p", "Label answers of a run to see how far its metrics can be trusted."),
    )
    return Page(
        title="Review",
        section="Review",
        content=[
            tag("h1", "Review"),
            rows_table("Queues", head, rows, "list") if rows else nothing,
            _new_queue(workspace, query.run),
        ],
        keys=(("j k", "move"), ("enter", "open")),
    )


@pages.post("/review")
def make_queue(workspace: Workspace, form: NewQueue) -> Redirect:
    """Make a queue."""
    queue = create_queue(form.run, form.metric, store=workspace.store)
    return Redirect(address("review", queue.id))


def _new_queue(workspace: Workspace, chosen: str | None) -> Markup:
    runs = (
        history.list_runs(limit=50, store=workspace.store).runs
        if history.store_exists(store=workspace.store)
        else ()
    )
    if not runs:
        return commands("carob run traces.jsonl --golden golden.json")
    options = [
        tag(
            "option",
            f"{minute(run.created_at)} · {run.dataset or 'no golden data'} · {run.id}",
            value=run.id,
            selected=run.id == chosen,
        )
        for run in {run.id: run for run in runs}.values()
    ]
    asked = [run for run in runs if chosen in (None, run.id)]
    names = dict.fromkeys(name for run in asked for name in run.means)
    metrics = [tag("option", name, value=name) for name in names]
    return tag(
        "form",
        tag("h2", "Review the answers of a run"),
        tag(
            "div",
            tag("label", tag("span", "run"), tag("select", options, name="run")),
            tag("label", tag("span", "metric"), tag("select", metrics, name="metric")),
            tag("button", "Start", type="submit"),
            class_="actions",
        ),
        method="post",
        action="/review",
    )
