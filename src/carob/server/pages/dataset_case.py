"""One golden case: what it expects, its review, and what became of it in past runs."""

from __future__ import annotations

from typing import Literal

from carob.api.golden.drafts import delete_case, get_case, review_case
from carob.api.views.case_history import PastResult, case_history
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Case, Status
from carob.schema.draft import DraftCase
from carob.server.binding import Query
from carob.server.pages.conversation import plain_agents, plain_call, plain_turn
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    chips,
    link_button,
    moment,
    rows_table,
    score,
    stamp,
    strip,
)
from carob.server.pages.texts import long_text
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()


class GoldenCasePath(Query, frozen=True):
    """A case of a dataset."""

    name: str
    case: str


class MarkForm(Query, frozen=True):
    """A review of a case."""

    status: Literal["draft", "reviewed", "approved"]
    revision: str
    """The digest of the case that was looked at."""
    by: str = ""


class DeleteForm(Query, frozen=True):
    """The digest of the case that was looked at."""

    revision: str


@pages.post("/datasets/{name:path}/cases/{case:path}/review")
def set_review(workspace: Workspace, path: GoldenCasePath, form: MarkForm) -> Redirect:
    """Set the review status of a case."""
    if not form.by.strip():
        raise RequestError(422, "a review needs a name", hint="go back and say who you are")
    review_case(
        workspace.folder, path.name, path.case, form.status, by=form.by, revision=form.revision
    )
    return Redirect(address("datasets", path.name, "cases", path.case))


@pages.post("/datasets/{name:path}/cases/{case:path}/delete")
def remove_case(workspace: Workspace, path: GoldenCasePath, form: DeleteForm) -> Redirect:
    """Remove a case from the draft."""
    delete_case(workspace.folder, path.name, path.case, revision=form.revision)
    return Redirect(address("datasets", path.name))


@pages.get("/datasets/{name:path}/cases/{case:path}")
def show_golden_case(workspace: Workspace, path: GoldenCasePath) -> Page:
    """Show a golden case with its past runs."""
    draft = get_case(workspace.folder, path.name, path.case)
    editable = "@" not in path.name
    past = case_history(path.name.partition("@")[0], path.case, store=workspace.store)
    case = draft.case
    lineage = [f"{key} {value}" for key, value in case.metadata.items() if key != "review_status"]
    turns = [
        tag(
            "article",
            tag("h3", f"Turn {number}"),
            plain_turn("user", turn.user),
            plain_agents(turn),
            [plain_call(call) for call in turn.tool_calls or ()],
            plain_turn("agent", turn.response) if turn.response is not None else None,
            class_="turn",
        )
        for number, turn in enumerate(case.turns, 1)
    ]
    return Page(
        title=path.case,
        section="Datasets",
        crumbs=case_crumbs(path.name, path.case),
        content=[
            tag("h1", tag("bdi", path.case)),
            tag("p", " · ".join([f"Review: {draft.review}", *lineage]), class_="quiet", dir="auto"),
            _lineage(case),
            _tags(path.name, case),
            _case_actions(path, draft) if editable else _draft_link(path),
            tag("h2", "Expected", class_="golden"),
            turns,
            _case_wide(case),
            _past_runs(path.case, past),
        ],
        command=("review", workspace.golden_file(path.name), "--", path.case) if editable else None,
        keys=(*((("e", "edit"),) if editable else ()), ("j k", "move"), ("enter", "open")),
    )


def case_crumbs(name: str, case: str, *parts: str) -> tuple[tuple[str, str], ...]:
    """Return the way to a case of a dataset."""
    dataset = (name, address("datasets", name))
    own = (case, address("datasets", name, "cases", case) if parts else "")
    return (("Datasets", "/datasets"), dataset, own, *((part, "") for part in parts))


def _lineage(case: Case) -> Markup | None:
    session, run = case.metadata.get("session_id"), case.metadata.get("run")
    if isinstance(session, str):
        link = tag("a", session, href=address("live", session), class_="mono", dir="auto")
        return tag("p", "Captured from session ", link, class_="quiet")
    if isinstance(run, str):
        parent = case.metadata.get("parent")
        where = ("runs", run, "cases", parent) if isinstance(parent, str) else ("runs", run)
        link = tag("a", run, href=address(*where), class_="mono", dir="auto")
        return tag("p", "Captured from a failure of ", link, class_="quiet")
    return None


def _tags(name: str, case: Case) -> Markup | None:
    if not case.tags:
        return None
    links = [
        tag("a", word, href=address("datasets", name, tag=word), class_="chip")
        for word in case.tags
    ]
    return tag("p", chips(links, 20), dir="auto")


def _case_wide(case: Case) -> list[Markup | None]:
    """Return what is expected of the whole conversation, and what the agent is given."""
    calls = map(plain_call, case.tool_calls or ())
    return [
        join([tag("h3", "Tool calls of the whole conversation"), calls])
        if case.tool_calls
        else None,
        join([tag("h3", "Context"), tag("p", long_text(case.context), class_="text", dir="auto")])
        if case.context
        else None,
    ]


def _case_actions(path: GoldenCasePath, draft: DraftCase) -> Markup:
    where = ("datasets", path.name, "cases", path.case)
    statuses = [
        tag("option", word, value=word, selected=word == draft.review)
        for word in ("draft", "reviewed", "approved")
    ]
    review = tag(
        "form",
        tag("label", tag("span", "review"), tag("select", statuses, name="status")),
        tag(
            "label",
            tag("span", "your name"),
            tag("input", name="by", data_remember="1", autocomplete="name", required=True),
        ),
        tag("input", type="hidden", name="revision", value=draft.digest),
        tag("button", "Set", type="submit"),
        method="post",
        action=address(*where, "review"),
    )
    delete = tag(
        "form",
        tag("input", type="hidden", name="revision", value=draft.digest),
        tag("button", "Remove from the draft", type="submit"),
        method="post",
        action=address(*where, "delete"),
    )
    edit = link_button("Edit", address(*where, "edit"), key="e", gold=True, writes=True)
    return tag("div", edit, review, delete, class_="actions")


def _draft_link(path: GoldenCasePath) -> Markup:
    name, _, version = path.name.partition("@")
    link = tag("a", "the draft", href=address("datasets", name, "cases", path.case))
    return tag(
        "p", f"As released in {version}. To change it, edit it in ", link, ".", class_="note"
    )


def _past_runs(case: str, past: list[PastResult]) -> Markup:
    if not past:
        return join([tag("h2", "Past runs"), tag("p", "No run has scored this case yet.")])
    statuses: list[Status] = [entry.result.status for entry in reversed(past[:10])]
    rows = [
        tag(
            "tr",
            tag("td", stamp(entry.result.status)),
            tag(
                "th",
                tag(
                    "a",
                    entry.run.address,
                    href=address("runs", entry.run.address, "cases", case),
                    class_="mono",
                ),
                scope="row",
            ),
            tag("td", moment(entry.run.created_at), class_="quiet"),
            tag("td", entry.run.version or ""),
            tag("td", _scores(entry), class_="wrap"),
        )
        for entry in past
    ]
    passed = sum(entry.result.status == "passed" for entry in past)
    head: list[Child] = ["status", "run", "when (UTC)", "version", "scores"]
    title = tag(
        "h2", f"Past runs: {passed:,} of {count(len(past), 'run')} passed ", strip(statuses)
    )
    return tag("section", title, rows_table("Past runs", head, rows, "list"))


def _scores(entry: PastResult) -> list[Child]:
    shown = [item for item in entry.result.scores if item.value is not None]
    return [[breakable(item.metric), f" {score(item.value)}  "] for item in shown]
