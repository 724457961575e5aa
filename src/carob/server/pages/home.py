"""Home: the newest verdict of each dataset, and how to begin."""

from __future__ import annotations

from carob.api import history
from carob.report.markup import Child, Markup, tag
from carob.schema.history import RunEntry
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, commands, empty, moment, rows_table, stamp
from carob.server.pages.runs import dataset_link, pass_change
from carob.server.workspace import Workspace

pages = Pages()
_LOOKED_AT = 200


@pages.get("/")
def show_home(workspace: Workspace) -> Page:
    """Show what changed."""
    runs: tuple[RunEntry, ...] = ()
    if history.store_exists(store=workspace.store):
        runs = history.list_runs(limit=_LOOKED_AT, store=workspace.store).runs
    newest: dict[str, RunEntry] = {}
    for run in runs:
        newest.setdefault(run.dataset or "", run)
    if not newest:
        return Page(title="Home", section="Home", content=[_begin(workspace)])
    head: list[Child] = ["verdict", "dataset", "newest run", "#passed", "#change", "when", ""]
    rows = [_row(run) for run in newest.values()]
    failing = sum(run.verdict == "failed" for run in newest.values())
    title = f"{failing} of {len(newest)} datasets fail" if failing else "Nothing fails"
    return Page(
        title="Home",
        section="Home",
        content=[
            tag("h1", f"{title}."),
            tag("h2", "Newest verdict of each dataset"),
            rows_table("Newest runs", head, rows, "list"),
        ],
        command="carob runs",
        keys=(("j k", "move"), ("enter", "open")),
    )


def _row(run: RunEntry) -> Markup:
    changed = run.change is not None and run.change.verdict_before != run.verdict
    note = f"was {run.change.verdict_before}" if changed and run.change else ""
    return tag(
        "tr",
        tag("td", stamp(run.verdict)),
        tag("th", dataset_link(run), scope="row"),
        tag("td", tag("a", run.id, href=address("runs", run.id), class_="mono")),
        tag("td", f"{run.cases.passed:,} / {run.cases.total:,}", class_="n"),
        tag("td", pass_change(run), class_="n"),
        tag("td", moment(run.created_at), class_="quiet"),
        tag("td", note, class_="quiet"),
    )


def _begin(workspace: Workspace) -> Markup:
    endpoint = workspace.addresses.get("otlp", "")
    return empty(
        "Nothing here yet. Three ways to begin",
        tag("p", "Evaluate traces against golden data:"),
        commands("carob run traces.jsonl --golden golden.json"),
        tag("p", "Send the sessions of a live agent here:"),
        commands(f"export OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}"),
        tag("p", "Or see the whole story on sample data:"),
        commands("carob demo --keep carob-demo", "cd carob-demo && carob serve"),
    )
