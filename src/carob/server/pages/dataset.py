"""One dataset: its cases, what changed since the release, and the version that this demands."""

from __future__ import annotations

from typing import Literal

import msgspec

from carob.api.drafts import get_case, get_draft, list_cases, put_case, release_draft
from carob.api.golden import GoldenFolder
from carob.api.versions import versions
from carob.errors import CarobError
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Case
from carob.schema.base import prepare_type
from carob.schema.dataset import expected_tools
from carob.schema.draft import Draft, DraftCase
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, choice, filter_form, rows_table, text_field
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 500
_REVIEWS = [(word, word) for word in ("draft", "reviewed", "approved")]


class DatasetPath(Query, frozen=True):
    """A dataset, or with `@VERSION` a release of it."""

    name: str


class CasePath(Query, frozen=True):
    """A case of a dataset."""

    name: str
    case: str


class DatasetQuery(Query, frozen=True):
    """Which cases to list."""

    tag: str | None = None
    review: Literal["draft", "reviewed", "approved"] | None = None
    q: str | None = None
    after: str | None = None


class ReleaseForm(Query, frozen=True):
    """The digest of the draft that was looked at, and who releases it."""

    seen: str
    by: str = ""


class CaseForm(Query, frozen=True):
    """An edited case, and the digest of what was edited."""

    seen: str
    source: str


@pages.get("/datasets/{name}")
def show_dataset(workspace: Workspace, path: DatasetPath, query: DatasetQuery) -> Page:
    """Show a dataset or a release of it."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
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
    head: list[Child] = ["case", "first message", "#turns", "#tools", "tags", "review"]
    rows = [_row(base, case, editable) for case in listing.items]
    more = address(
        "datasets", path.name, tag=query.tag, review=query.review, q=query.q, after=listing.next
    )
    return Page(
        title=path.name,
        section="Datasets",
        crumbs=(("Datasets", "/datasets"), (path.name, "")),
        content=[
            tag("h1", path.name),
            _state(get_draft(folder, path.name)) if editable else None,
            _versions(workspace, base),
            tag("h2", f"Cases: {listing.total or 0:,}"),
            _filters(path.name, query),
            rows_table("Cases", head, rows, "list") if rows else tag("p", "No case matches."),
            tag("p", tag("a", "Next cases", href=more, rel="next")) if listing.next else None,
        ],
        command=f"carob show {path.name}",
        keys=(("j k", "move"), ("enter", "open")),
    )


@pages.post("/datasets/{name}/release")
def release_dataset(workspace: Workspace, path: DatasetPath, form: ReleaseForm) -> Redirect:
    """Release the draft, if it is still the one that was looked at."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    released = release_draft(folder, path.name, by=form.by or None, seen=form.seen)
    return Redirect(address("datasets", f"{released.name}@{released.version}"))


@pages.get("/datasets/{name}/cases/{case:path}/edit")
def edit_case(workspace: Workspace, path: CasePath) -> Page:
    """Show the editor of a case."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    return _editor(path, get_case(folder, path.name, path.case))


@pages.post("/datasets/{name}/cases/{case:path}/edit")
def save_case(workspace: Workspace, path: CasePath, form: CaseForm) -> Redirect:
    """Save an edited case into the draft."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    try:
        case = msgspec.json.decode(form.source, type=prepare_type(Case))
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        hint = "go back: the text is still in the form"
        raise RequestError(422, f"not a case: {error}", hint=hint) from error
    if case.id != path.case:
        raise RequestError(422, f"the id is {case.id!r}, expected {path.case!r}")
    put_case(folder, path.name, case, seen=form.seen)
    return Redirect(address("datasets", path.name))


def _state(draft: Draft) -> Markup:
    if draft.version is None:
        text = f"Not released yet; the first version is {draft.next_version}."
    elif draft.next_version is None:
        text = f"{draft.version} is released, nothing has changed since."
    else:
        changes = count(len(draft.diff.changes) if draft.diff else 0, "change")
        text = f"{draft.version} is released. Draft: {changes} → {draft.next_version}."
    facts = f"format {draft.format} · {count(draft.cases, 'case')} · digest {draft.digest[:19]}…"
    form = tag(
        "form",
        tag("input", type="hidden", name="seen", value=draft.digest),
        tag("label", tag("span", "your name"), tag("input", name="by", autocomplete="name")),
        tag("button", f"Release {draft.next_version}", type="submit", class_="gold"),
        method="post",
        action=address("datasets", draft.name, "release"),
        class_="filters",
    )
    return join(
        [
            tag("p", text, class_="lead"),
            tag("p", facts, class_="quiet"),
            _changes(draft),
            form if draft.next_version else None,
        ]
    )


def _changes(draft: Draft) -> Markup | None:
    if draft.version is None or not draft.diff or not draft.diff.changes:
        return None
    link = address("datasets", draft.name, "diff", from_=draft.version)
    return tag("p", tag("a", "See what changed", href=link))


def _versions(workspace: Workspace, name: str) -> Markup | None:
    try:
        releases = versions(name, registry=workspace.registry)
    except CarobError:
        return None  # not released yet
    links = [
        tag("a", release.version, href=address("datasets", f"{name}@{release.version}"))
        for release in reversed(releases)
    ]
    return tag("nav", "Releases: ", links, class_="pages", aria_label="Releases")


def _filters(name: str, query: DatasetQuery) -> Markup:
    fields = [
        choice("review", "review", _REVIEWS, query.review),
        text_field("text", "q", query.q),
    ]
    return filter_form(address("datasets", name), fields, {"tag": query.tag})


def _row(name: str, draft: DraftCase, editable: bool) -> Markup:
    case = draft.case
    first = case.turns[0].user if case.turns else None
    link = tag("a", case.id, href=address("datasets", name, "cases", case.id, "edit"))
    tags = [[tag("a", word, href=address("datasets", name, tag=word)), " "] for word in case.tags]
    return tag(
        "tr",
        tag("th", link if editable else case.id, scope="row", dir="auto"),
        tag("td", (first or "")[:200], class_="first", dir="auto"),
        tag("td", str(len(case.turns)), class_="n"),
        tag("td", str(len(expected_tools(case))), class_="n"),
        tag("td", tags, dir="auto"),
        tag("td", draft.review),
    )


def _editor(path: CasePath, draft: DraftCase) -> Page:
    document = msgspec.structs.replace(draft.case, recorded=None)
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    form = tag(
        "form",
        tag("input", type="hidden", name="seen", value=draft.digest),
        tag(
            "label",
            tag("span", "Case as JSON"),
            tag("textarea", text, name="source", rows="28", spellcheck="false", dir="auto"),
        ),
        tag("button", "Save to the draft", type="submit", class_="gold"),
        method="post",
        class_="editor",
    )
    lineage = [f"{key}: {value}" for key, value in draft.case.metadata.items()]
    return Page(
        title=f"Edit {path.case}",
        section="Datasets",
        crumbs=(
            ("Datasets", "/datasets"),
            (path.name, address("datasets", path.name)),
            (path.case, ""),
        ),
        content=[
            tag("h1", tag("span", path.case, dir="auto")),
            tag("p", f"Review: {draft.review}. {' · '.join(lineage)}", class_="quiet"),
            form,
        ],
    )
