"""One dataset: its cases, what changed since the release, and the version that this demands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from carob.api.golden.drafts import get_draft, list_cases, release_draft
from carob.api.golden.folder import GoldenFolder, find_file
from carob.api.lint import lint
from carob.api.versions import find_release_record, versions
from carob.api.views.case_history import recent_verdicts
from carob.errors import CarobError
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Status
from carob.schema.dataset import expected_tools
from carob.schema.draft import Draft, DraftCase
from carob.server.binding import Query
from carob.server.pages.dataset_release import release_actions, release_facts, release_state
from carob.server.pages.dataset_selection import case_actions
from carob.server.pages.findings import summarise_findings
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    chips,
    choice,
    filter_form,
    link_button,
    rows_table,
    strip,
    text_field,
)
from carob.server.paths import DatasetPath
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 200
_FEW_CASES = 1_000
"""Larger datasets are linted on request only."""
_KEYS = (("j k", "move"), ("enter", "open"), ("/", "search"))
_EDIT_KEYS = (*_KEYS[:2], ("x", "select"), ("e", "edit"), _KEYS[-1])
_REVIEWS = [(word, word) for word in ("draft", "reviewed", "approved")]


class DatasetQuery(Query, frozen=True):
    """Which cases to list."""

    tag: str | None = None
    review: Literal["draft", "reviewed", "approved"] | None = None
    q: str | None = None
    after: str | None = None
    accepted: str | None = None
    """A case that was just added or changed."""
    added: int = 1
    """How many were added with it."""


class ReleaseForm(Query, frozen=True):
    """The digest of the draft that was looked at, and who releases it."""

    revision: str
    by: str = ""


@pages.get("/datasets/{name:path}")
def show_dataset(workspace: Workspace, path: DatasetPath, query: DatasetQuery) -> Page:
    """Show a dataset or a release of it."""
    folder = workspace.folder
    listing = list_cases(
        folder,
        path.name,
        tags=[query.tag] if query.tag else [],
        review=query.review,
        text=query.q,
        limit=_LIMIT,
        after=query.after,
    )
    base = path.name.partition("@")[0]
    editable = "@" not in path.name
    recent = recent_verdicts(base, [item.case.id for item in listing.items], store=workspace.store)
    draft = get_draft(folder, path.name) if editable else None
    release = None if editable else find_release_record(path.name, workspace.registry)
    more = address(
        "datasets", path.name, tag=query.tag, review=query.review, q=query.q, after=listing.next
    )
    cases = _cases(path.name, listing.items, recent, query, editable=editable)
    return Page(
        title=path.name,
        section="Datasets",
        crumbs=(("Datasets", "/datasets"), (path.name, "")),
        content=[
            tag(
                "div",
                tag(
                    "div",
                    tag("h1", tag("bdi", path.name)),
                    tag("p", _state(draft), class_="lead") if draft else None,
                    tag("p", release_state(release), class_="lead") if release else None,
                ),
                tag("div", _actions(draft), class_="actions") if draft else None,
                tag("div", release_actions(release), class_="actions") if release else None,
                class_="top",
            ),
            _accept_notice(query, draft) if draft else None,
            tag("p", draft.description, class_="prose quiet", dir="auto")
            if draft and draft.description
            else None,
            _facts(folder, draft) if draft else None,
            release_facts(release) if release else None,
            _versions(workspace, path.name),
            tag("h2", f"Cases: {listing.total or 0:,}"),
            _filters(path.name, query),
            _tag_chip(path.name, query),
            tag(
                "form",
                case_actions(workspace, draft) if draft else None,
                tag(
                    "div",
                    cases if listing.items else tag("p", "No case matches."),
                    tag("p", tag("a", "Next cases", href=more, rel="next"))
                    if listing.next
                    else None,
                    id="cases",
                ),
                method="post",
                action=address("datasets", base, "run"),
                data_selection="page",
            ),
        ],
        command=_command(workspace, path.name, query, listing.items),
        keys=_EDIT_KEYS if editable else _KEYS,
    )


@pages.post("/datasets/{name:path}/release")
def release_dataset(workspace: Workspace, path: DatasetPath, form: ReleaseForm) -> Redirect:
    """Release the draft, if it is still the one that was looked at."""
    released = release_draft(
        workspace.folder, path.name, by=form.by or None, revision=form.revision
    )
    return Redirect(address("datasets", f"{released.name}@{released.version}"))


def _command(
    workspace: Workspace, name: str, query: DatasetQuery, cases: Sequence[DraftCase]
) -> tuple[str, ...] | None:
    """Return the command that lists the same cases; for a release, there is none that filters."""
    filtered = any((query.tag, query.review, query.q, query.after))
    if "@" in name:
        is_default = not workspace.registry_arguments
        return ("show", name) if is_default and not filtered else None
    selected = ("--", *(item.case.id for item in cases)) if filtered else ()
    if filtered and not cases:
        return None
    return ("review", workspace.golden_file(name), *selected)


def _accept_notice(query: DatasetQuery, draft: Draft) -> Markup | None:
    if query.accepted is None:
        return None
    version = f", which demands version {draft.next_version}" if draft.next_version else ""
    edit = address("datasets", draft.name, "cases", query.accepted, "edit")
    if query.added > 1:
        text = f"{query.added:,} cases were added to the draft{version}."
        return tag("p", text, class_="golden-edge", role="status")
    return tag(
        "p",
        "Case ",
        tag("a", query.accepted, href=edit, dir="auto"),
        f" is in the draft{version}.",
        class_="golden-edge",
        role="status",
    )


def _state(draft: Draft) -> str:
    if draft.version is None:
        return f"Not released yet; the first version is {draft.next_version}."
    if draft.next_version is None:
        return f"{draft.version} is released, nothing has changed since."
    changes = count(len(draft.diff.changes) if draft.diff else 0, "change")
    return f"{draft.version} is released. Draft: {changes} → {draft.next_version}."


def _actions(draft: Draft) -> list[Markup | None]:
    file = f"/api{address('datasets', draft.name, 'file')}"
    changes = address("datasets", draft.name, "diff", from_=draft.version)
    changed = draft.version is not None and draft.diff and draft.diff.changes
    release = tag(
        "form",
        tag("input", type="hidden", name="revision", value=draft.digest),
        tag(
            "label",
            tag("span", "your name"),
            tag("input", name="by", autocomplete="name", data_remember="1"),
        ),
        tag("button", f"Release {draft.next_version}", type="submit", class_="gold"),
        method="post",
        action=address("datasets", draft.name, "release"),
    )
    return [
        link_button("New case", address("datasets", draft.name, "new"), writes=True),
        link_button("Past runs", address("runs", dataset=draft.name)),
        tag("a", "Download", href=file, class_="button"),
        link_button("See what changed", changes) if changed else None,
        release if draft.next_version else None,
    ]


def _facts(folder: GoldenFolder, draft: Draft) -> Markup:
    where = address("datasets", draft.name, "findings")
    text = "check for personal data, duplicates and contradictions"
    if draft.cases <= _FEW_CASES:
        (linted,) = lint(find_file(folder, draft.name))
        text = summarise_findings(linted.findings)
    return tag(
        "p",
        f"format {draft.format} · {count(draft.cases, 'case')} · digest {draft.digest[:19]}…"
        " · findings: ",
        tag("a", text or "none", href=where),
        class_="quiet",
    )


def _versions(workspace: Workspace, reference: str) -> Markup | None:
    name, _, current = reference.partition("@")
    try:
        releases = versions(name, registry=workspace.registry)
    except CarobError:
        return None  # not released yet
    links = [
        [
            tag(
                "a",
                release.version,
                href=address("datasets", f"{name}@{release.version}"),
                aria_current="page" if release.version == current else None,
            ),
            " ",
        ]
        for release in reversed(releases)
    ]
    draft = tag("a", "draft", href=address("datasets", name)) if current else None
    label = tag("span", "Releases")
    return tag("nav", label, draft, links, class_="pages", aria_label="Releases")


def _filters(name: str, query: DatasetQuery) -> Markup:
    fields = [
        choice("review", "review", _REVIEWS, query.review),
        text_field("text", "q", query.q),
    ]
    return filter_form(address("datasets", name), fields, {"tag": query.tag}, region="cases")


def _tag_chip(name: str, query: DatasetQuery) -> Markup | None:
    if query.tag is None:
        return None
    link = address("datasets", name, review=query.review, q=query.q)
    return tag("p", tag("a", f"tag: {query.tag} ×", href=link, class_="chip on", dir="auto"))


def _cases(
    name: str,
    cases: tuple[DraftCase, ...],
    recent: dict[str, tuple[Status, ...]],
    query: DatasetQuery,
    *,
    editable: bool,
) -> Markup:
    every = tag("input", type="checkbox", data_all="case")
    select = tag("label", tag("span", "select all", class_="unseen"), every)
    head: list[Child] = [
        *([select] if editable else []),
        "case",
        "first message",
        "#turns",
        "#tools",
        "tags",
        "review",
        "last 10 runs",
    ]
    rows = [_row(name, case, recent.get(case.case.id, ()), query, editable) for case in cases]
    return rows_table("Cases", head, rows, "list")


def _row(
    reference: str,
    draft: DraftCase,
    recent: tuple[Status, ...],
    query: DatasetQuery,
    editable: bool,
) -> Markup:
    case = draft.case
    name = reference.partition("@")[0]
    first = case.turns[0].user if case.turns else case.scenario.prompt if case.scenario else None
    link = tag("a", case.id, href=address("datasets", reference, "cases", case.id))
    edit = tag(
        "a",
        "edit",
        href=address("datasets", name, "cases", case.id, "edit"),
        data_row_key="e",
        tabindex="-1",
        class_="unseen writes",
    )
    box = tag("input", type="checkbox", name="case", value=case.id, aria_label=f"select {case.id}")
    tags = [
        tag("a", word, href=address("datasets", reference, tag=word), class_="chip")
        for word in case.tags
    ]
    return tag(
        "tr",
        tag("td", box, class_="box") if editable else None,
        tag("th", link, edit if editable else None, scope="row", dir="auto"),
        tag("td", (first or "")[:200], class_="first", dir="auto"),
        tag("td", str(len(case.turns)), class_="n"),
        tag("td", str(len(expected_tools(case))), class_="n"),
        tag("td", chips(tags), class_="chips", dir="auto"),
        tag("td", draft.review),
        tag("td", strip(recent)),
        class_="chosen" if query.accepted == case.id else None,
    )
