"""Upload: golden data and traces of any format, what was understood of them, and a run."""

from __future__ import annotations

from collections import Counter

from carob.api.datasets import validate
from carob.api.golden.folder import list_datasets
from carob.api.serving.run_jobs import JobRequest
from carob.api.serving.trace_uploads import add_traces, list_uploads, upload_file
from carob.api.traces import list_traces
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import TraceListing
from carob.server.binding import Query
from carob.server.pages.datasets import drop_form
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    commands,
    dataset_choice,
    problem_list,
    rows_table,
)
from carob.server.uploads import Upload
from carob.server.workspace import Workspace

pages = Pages()
_SHOWN = 100


class UploadQuery(Query, frozen=True):
    """Uploaded traces to look at."""

    traces: str | None = None


class UploadedRun(Query, frozen=True):
    """Uploaded traces, and what to score them against."""

    traces: str
    dataset: str
    metric: tuple[str, ...] = ()


@pages.get("/upload")
def show_upload(workspace: Workspace, query: UploadQuery) -> Page:
    """Show the forms that send a file, and what was understood of uploaded traces."""
    if query.traces:
        return _traces_page(workspace, query.traces)
    where = workspace.addresses.get("pages", "")
    uploads = [
        tag(
            "tr",
            tag("th", tag("a", item.file, href=address("upload", traces=item.id)), scope="row"),
            tag("td", f"{item.bytes:,} bytes", class_="n"),
        )
        for item in list_uploads(workspace.uploads)
    ]
    forms = [
        drop_form("Traces", "/upload/traces", "Upload", note="OTLP, Jaeger, logs, chats, …"),
        drop_form("Golden data", "/datasets", "Add", note="Becomes a dataset of this server."),
        drop_form("Only check golden data", "/upload/check", "Check", note="Nothing is kept."),
    ]
    return Page(
        title="Upload",
        section="Upload",
        content=[
            tag("h1", "Upload"),
            tag("p", "Files of any format are recognized by their content.", class_="lead"),
            tag("div", forms, class_="columns drops"),
            [
                tag("h2", "Uploaded traces"),
                rows_table("Uploads", ["file", "#size"], uploads, "list"),
            ]
            if uploads
            else None,
            tag("h2", "From a script"),
            commands(
                f"curl -F file=@golden.json {where}/api/validate",
                f"curl -F file=@traces.jsonl {where}/api/traces",
            ),
        ],
    )


@pages.post("/upload/traces")
def upload_traces(workspace: Workspace, upload: Upload) -> Redirect:
    """Keep a file of traces."""
    kept, _ = add_traces(workspace.uploads, upload.path)
    return Redirect(address("upload", traces=kept.id))


@pages.post("/upload/check")
def check_upload(upload: Upload) -> Page:
    """Validate golden data, and keep nothing."""
    (checked,) = validate(upload.path)
    word = tag("span", "✓ Valid." if checked.valid else "✗ Invalid.", class_=_word(checked.valid))
    facts = f"{upload.name} · {checked.format or 'unknown format'} · {count(checked.cases, 'case')}"
    return Page(
        title="Checked",
        section="Upload",
        crumbs=(("Upload", "/upload"), ("Checked", "")),
        content=[
            tag("h1", word, f" {count(len(checked.problems), 'problem')}."),
            tag("p", facts, class_="lead", dir="auto"),
            problem_list(checked.problems),
        ],
        command=("validate", upload.name),
    )


@pages.post("/upload/run")
def run_upload(workspace: Workspace, form: UploadedRun) -> Redirect:
    """Score uploaded traces in the background."""
    request = JobRequest(dataset=form.dataset, traces=(form.traces,), metrics=form.metric)
    job = workspace.jobs.start(workspace.sources, request)
    return Redirect(address("jobs", job.id))


def _word(valid: bool) -> str:
    return "passed" if valid else "failed"


def _traces_page(workspace: Workspace, id: str) -> Page:
    file = upload_file(workspace.uploads, id)
    listing = list_traces(file)
    turns = sum(len(entry.trace.turns) for entry in listing.traces)
    conventions = Counter(entry.trace.convention or "unknown" for entry in listing.traces)
    facts = ", ".join(f"{number:,} {name}" for name, number in conventions.most_common())
    return Page(
        title=f"Traces {file.name}",
        section="Upload",
        crumbs=(("Upload", "/upload"), (file.name, "")),
        content=[
            tag("h1", f"{count(len(listing.traces), 'trace')}, {count(turns, 'turn')}"),
            tag("p", f"{file.name} · {facts}", class_="lead", dir="auto"),
            problem_list(listing.problems[:_SHOWN]),
            _run_form(workspace, id, listing),
            _traces(listing),
        ],
        command=("traces", str(file)),
    )


def _run_form(workspace: Workspace, id: str, listing: TraceListing) -> Markup:
    names = [entry.name for entry in list_datasets(workspace.folder) if entry.file]
    if not names:
        return join(
            [
                tag("p", "Add golden data to score these traces."),
                drop_form("Golden data", "/datasets", "Add"),
            ]
        )
    supported = _support(listing)
    total = len(listing.traces)
    rows = [
        tag(
            "tr",
            tag(
                "td",
                tag("input", type="checkbox", name="metric", value=name, id=f"metric-{name}"),
                class_="box",
            ),
            tag("th", tag("label", breakable(name), for_=f"metric-{name}"), scope="row"),
            tag("td", f"{number:,} of {total:,}", class_="n"),
            tag("td", why, class_="wrap quiet"),
        )
        for name, (number, why) in supported.items()
    ]
    head: list[Child] = [
        tag("span", "use", class_="unseen"),
        "metric",
        "#supported",
        "what is missing",
    ]
    return tag(
        "form",
        tag("input", type="hidden", name="traces", value=id),
        tag(
            "div",
            dataset_choice(names),
            tag("button", "Run", type="submit", class_="gold"),
            tag("span", "Without a choice, the metrics that the data asks for.", class_="quiet"),
            class_="actions",
        ),
        tag("details", tag("summary", "Choose metrics"), rows_table("Metrics", head, rows)),
        method="post",
        action="/upload/run",
    )


def _support(listing: TraceListing) -> dict[str, tuple[int, str]]:
    """By metric: how many traces support it, and what the first other one lacks."""
    support: dict[str, tuple[int, str]] = {}
    for entry in listing.traces:
        for name, why in entry.supports.items():
            number, missing = support.get(name, (0, ""))
            hint = next(iter(listing.hints.get(why or "", ())), "")
            text = f"{why}{f' — {hint}' if hint else ''}" if why else ""
            support[name] = (number + (why is None), missing or text)
    return dict(sorted(support.items(), key=lambda item: (-item[1][0], item[0])))


def _traces(listing: TraceListing) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", entry.trace.id, scope="row", class_="mono", dir="auto"),
            tag("td", ", ".join(entry.trace.agents), dir="auto"),
            tag("td", f"{len(entry.trace.turns):,}", class_="n"),
            tag("td", f"{sum(len(t.tool_calls or ()) for t in entry.trace.turns):,}", class_="n"),
            tag(
                "td",
                (entry.trace.turns[0].user or "(not recorded)")[:200],
                class_="first",
                dir="auto",
            )
            if entry.trace.turns
            else tag("td"),
        )
        for entry in listing.traces[:_SHOWN]
    ]
    head: list[Child] = ["trace", "agents", "#turns", "#tools", "first message"]
    left = len(listing.traces) - _SHOWN
    more = tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None
    return tag("section", tag("h2", "Traces"), rows_table("Traces", head, rows), more)
