"""A run in the making: progress, cancel, and what went wrong."""

from __future__ import annotations

from carob.report.markup import Child, Markup, tag
from carob.schema.job import RunJob
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, post_button, problem_list
from carob.server.paths import JobPath
from carob.server.workspace import Workspace

pages = Pages()
_TITLES = {
    "waiting": "Waiting for its turn",
    "running": "Scoring",
    "done": "Done",
    "failed": "Could not be scored",
    "cancelled": "Cancelled",
}


@pages.get("/jobs/{job}")
def show_job(workspace: Workspace, path: JobPath) -> Page | Redirect:
    """Show how far a run is; its own page as soon as it is done."""
    job = workspace.jobs.get(path.job)
    if job.run and not job.problems:
        return Redirect(address("runs", job.run))
    return Page(
        title=_title(job),
        section="Runs",
        crumbs=(("Runs", "/runs"), (path.job, "")),
        content=[_region(job)],
    )


@pages.post("/jobs/{job}/cancel")
def cancel_job(workspace: Workspace, path: JobPath) -> Redirect:
    """Stop a run; what is scored so far is kept for the next attempt."""
    workspace.jobs.cancel(path.job)
    return Redirect(address("jobs", path.job))


def _title(job: RunJob) -> str:
    if job.state == "running" and job.stage == "asking":
        return f"Asking {job.target}"
    return _TITLES[job.state]


def _status(job: RunJob) -> str:
    asking = job.stage == "asking"
    if not job.total:
        return "holding the first conversations" if asking else "reading the traces"
    parts = [f"{job.done:,} of {job.total:,} {'conversations held' if asking else 'scored'}"]
    if failed := job.failed_conversations if asking else job.failed:
        parts.append(f"{failed:,} failed")
    if job.cost:
        parts.append(f"${job.cost:,.2f} so far")
    if job.eta_s is not None:
        parts.append(f"about {job.eta_s:.0f} s left")
    return ", ".join(parts)


def _region(job: RunJob) -> Markup:
    bar = tag(
        "progress",
        value=str(job.done) if job.total else None,
        max=str(job.total) if job.total else None,
        aria_label="progress",
    )
    again = tag("p", tag("a", "Refresh", href=address("jobs", job.id)), class_="unscripted")
    cancel = post_button("Cancel", address("jobs", job.id, "cancel"))
    content: list[Child] = [tag("h1", f"{_title(job)}: {job.dataset}")]
    if not job.is_over:
        content += [bar, tag("p", _status(job), role="status", class_="quiet"), cancel, again]
    content.append(problem_list(job.problems))
    if job.run:
        content.append(tag("p", tag("a", f"Open {job.run}", href=address("runs", job.run))))
    return tag("div", content, id="job", data_poll=None if job.is_over else "1")
