"""Home: what changed, what waits, and how to begin."""

from __future__ import annotations

from collections.abc import Sequence

from carob.api import history
from carob.api.demo import load_demo
from carob.api.review import count_waiting
from carob.api.serving.sessions import count_sessions
from carob.api.views.run_before import count_flips
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Status, Verdict
from carob.schema.history import RunEntry
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    commands,
    empty,
    moment,
    post_button,
    rows_table,
    stamp,
    strip,
)
from carob.server.pages.runs import dataset_link, pass_change
from carob.server.workspace import Workspace

pages = Pages()
_LOOKED_AT = 200
_RECENT = 10


@pages.get("/")
def show_home(workspace: Workspace) -> Page:
    """Show what changed."""
    runs: tuple[RunEntry, ...] = ()
    if history.store_exists(store=workspace.store):
        runs = history.list_runs(limit=_LOOKED_AT, store=workspace.store).runs
    by_dataset: dict[str, list[RunEntry]] = {}
    for run in runs:
        by_dataset.setdefault(run.dataset or "", []).append(run)
    if not by_dataset:
        content = [_begin(workspace), _waiting(workspace)]
        return Page(title="Home", section="Home", content=content)
    title = verdict_title([entries[0].verdict for entries in by_dataset.values()])
    head: list[Child] = [
        "verdict",
        "dataset",
        "newest run",
        "#passed",
        "#change",
        "last 10 runs",
        "when (UTC)",
    ]
    table = rows_table("Newest runs", head, [_row(e) for e in by_dataset.values()], "list")
    return Page(
        title="Home",
        section="Home",
        content=[
            tag(
                "div",
                tag("h1", f"{title}."),
                _waiting(workspace),
                _changes([*by_dataset.values()], workspace),
                tag("h2", "Newest verdict of each dataset"),
                table,
                id="home",
                data_refresh="run session dataset",
            ),
        ],
        command=("runs", *workspace.store_arguments),
        keys=(("j k", "move"), ("enter", "open")),
    )


def verdict_title(newest: Sequence[Verdict]) -> str:
    """Say how many datasets fail, and how many have no verdict: those do not pass either."""
    failing, undecided = newest.count("failed"), newest.count("inconclusive")
    word = "fails" if failing == 1 else "fail"
    title = f"{failing} of {count(len(newest), 'dataset')} {word}" if failing else "Nothing fails"
    return f"{title}, {undecided} without a verdict" if undecided else title


@pages.post("/demo")
def start_demo(workspace: Workspace) -> Redirect:
    """Load the sample data, and show what it found."""
    run = load_demo(workspace.folder, workspace.store, workspace.uploads)
    return Redirect(address("runs", run.id))


def _row(entries: list[RunEntry]) -> Markup:
    run = entries[0]
    statuses: list[Status] = [_STATUS[entry.verdict] for entry in reversed(entries[:_RECENT])]
    return tag(
        "tr",
        tag("td", stamp(run.verdict)),
        tag("th", dataset_link(run), scope="row", dir="auto"),
        tag("td", tag("a", run.id, href=address("runs", run.id), class_="mono")),
        tag("td", f"{run.cases.passed:,} / {run.cases.total:,}", class_="n"),
        tag("td", pass_change(run), class_="n"),
        tag("td", strip(statuses)),
        tag("td", moment(run.created_at), class_="quiet"),
        data_id=run.id,
    )


_STATUS: dict[Verdict, Status] = {
    "passed": "passed",
    "failed": "failed",
    "inconclusive": "unscored",
    "informational": "info",
}


def _changes(datasets: list[list[RunEntry]], workspace: Workspace) -> Markup | None:
    """Name the datasets whose verdict is another one than before."""
    items = [
        tag(
            "li",
            stamp(run.verdict),
            " ",
            tag("a", run.dataset or run.id, href=address("runs", run.id), dir="auto"),
            f", was {run.change.verdict_before}: ",
            pass_change(run),
            " · ",
            tag("a", _flips(earlier, run, workspace), href=address("compare", run=run.id)),
        )
        for run, *earlier in datasets
        if run.change is not None and run.change.verdict_before != run.verdict
    ]
    return join([tag("h2", "Changed"), tag("ul", items, class_="paths plain")]) if items else None


def _flips(earlier: list[RunEntry], run: RunEntry, workspace: Workspace) -> str:
    """Say how many cases flipped, unless counting them takes too long for a page."""
    flips = count_flips(earlier[0], run, store=workspace.store) if earlier else None
    return "what flipped" if flips is None else count(flips, "flip")


def _waiting(workspace: Workspace) -> Markup | None:
    waiting = count_waiting(store=workspace.store)
    sessions = count_sessions(workspace.store)
    parts: list[Child] = []
    if waiting:
        wait = "waits" if waiting == 1 else "wait"
        text = f"{count(waiting, 'answer')} {wait} for review"
        parts.append(tag("a", text, href="/review"))
    if sessions.sessions:
        text = f"{count(sessions.sessions, 'session')}, {sessions.open:,} open"
        parts += [" · " if parts else None, tag("a", text, href="/live")]
    return tag("p", parts, class_="lead") if parts else None


def _begin(workspace: Workspace) -> Markup:
    endpoint = workspace.addresses.get("otlp", "")
    return tag(
        "div",
        tag("h1", "Nothing here yet. Three ways to begin"),
        empty(
            "1. Look at the sample data",
            tag("p", "A bike shop's support agent, before and after a bad release."),
            post_button("Load the demo", "/demo", gold=True),
        ),
        empty(
            "2. Evaluate traces against golden data",
            commands("carob run traces.jsonl --golden golden.json"),
            tag("p", "Or ", tag("a", "upload both", href="/upload"), "."),
        ),
        empty(
            "3. Send the sessions of a live agent here",
            commands(f"export OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}"),
        ),
    )
