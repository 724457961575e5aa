"""What can be done with several cases of a dataset: run them, or set their review status."""

from __future__ import annotations

from typing import get_args

from carob.api import history
from carob.api.golden.drafts import review_cases
from carob.api.serving.run_jobs import JobRequest, list_targets
from carob.api.serving.trace_uploads import list_uploads
from carob.report.markup import Markup, tag
from carob.report.text import count
from carob.schema.draft import Draft
from carob.schema.versions import ReviewStatus
from carob.server.binding import Query
from carob.server.pages.page import Pages, Redirect
from carob.server.pages.parts import address, minute, selection_group
from carob.server.paths import DatasetPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()


class CasesForm(Query, frozen=True):
    """The selected cases, and what to do with them: what to score, as `run:ID`, `traces:ID`,
    `target:NAME`, or what the dataset recorded; or the review status, who sets it, and the digest
    of the draft that they have seen."""

    source: str = ""
    case: tuple[str, ...] = ()
    status: ReviewStatus = "reviewed"
    by: str = ""
    revision: str | None = None


@pages.post("/datasets/{name:path}/run")
def run_cases(workspace: Workspace, path: DatasetPath, form: CasesForm) -> Redirect:
    """Score the selected cases, or all of them, in the background."""
    kind, _, id = form.source.partition(":")
    traces = (id,) if kind == "traces" else ()
    target = id if kind == "target" else None
    request = JobRequest(dataset=path.name, traces=traces, target=target, cases=form.case)
    if kind == "run":
        job = workspace.jobs.rescore(workspace.sources, id, request)
    else:
        job = workspace.jobs.start(workspace.sources, request)
    return Redirect(address("jobs", job.id))


@pages.post("/datasets/{name:path}/reviews")
def mark_cases(workspace: Workspace, path: DatasetPath, form: CasesForm) -> Redirect:
    """Set the review status of the selected cases."""
    if not form.case:
        raise RequestError(422, "no case is selected", hint="check the cases that you have read")
    if not form.by.strip():
        raise RequestError(422, "a review needs a name", hint="go back and say who you are")
    review_cases(
        workspace.folder, path.name, form.case, form.status, by=form.by, revision=form.revision
    )
    return Redirect(address("datasets", path.name))


def case_actions(workspace: Workspace, draft: Draft) -> Markup:
    """Return the buttons for the selected cases: score stored and uploaded traces or live agents
    against them, or set their review status."""
    runs = (
        history.list_runs(dataset=draft.name, limit=10, store=workspace.store).runs
        if history.store_exists(store=workspace.store)
        else ()
    )
    sources = [
        (f"run:{run.id}", f"traces of {minute(run.created_at)} · {run.id}")
        for run in {run.id: run for run in runs}.values()
    ]
    sources += [
        (f"traces:{upload.id}", f"uploaded {upload.file}")
        for upload in list_uploads(workspace.uploads)
    ]
    sources += [(f"target:{name}", f"live agent {name}") for name in list_targets()]
    options = [tag("option", text, value=value) for value, text in sources]
    options.append(tag("option", "answers recorded in the dataset", value=""))
    statuses = [
        tag("option", word, value=word, selected=word == "approved")
        for word in get_args(ReviewStatus)
    ]
    source = tag("label", tag("span", "on", class_="inline"), tag("select", options, name="source"))
    return selection_group(
        f"all {count(draft.cases, 'case')}" if draft.cases > 1 else "the only case",
        tag("input", type="hidden", name="revision", value=draft.digest),
        tag("button", "Run", type="submit"),
        source,
        tag(
            "button",
            "Mark as",
            type="submit",
            formaction=address("datasets", draft.name, "reviews"),
        ),
        tag(
            "label",
            tag("span", "review status", class_="unseen"),
            tag("select", statuses, name="status"),
        ),
        tag(
            "label",
            tag("span", "by", class_="inline"),
            tag(
                "input", name="by", autocomplete="name", data_remember="1", placeholder="your name"
            ),
        ),
    )
