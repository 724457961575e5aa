"""What changed between two versions of a dataset, and the version that this demands."""

from __future__ import annotations

from carob.api.golden.drafts import load_draft
from carob.api.golden.folder import GoldenFolder
from carob.api.versions import diff_datasets
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Json
from carob.schema.versions import Bump, Change
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, rows_table
from carob.server.pages.texts import MAX_VALUE, diff_words, fold_text, value_text
from carob.server.workspace import Workspace

pages = Pages()
_MAX_CHANGES = 1000
_MAX_USER = 200


class DiffPath(Query, frozen=True):
    """A dataset."""

    name: str


class DiffPageQuery(Query, frozen=True, rename={"from_": "from"}):
    """Two versions; the draft if `to` is left out."""

    from_: str
    to: str | None = None


@pages.get("/datasets/{name:path}/diff")
def show_diff(workspace: Workspace, path: DiffPath, query: DiffPageQuery) -> Page:
    """Show the changes between two versions."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    old = load_draft(folder, f"{path.name}@{query.from_}")
    new = load_draft(folder, f"{path.name}@{query.to}" if query.to else path.name)
    diff = diff_datasets(old, new)
    target = query.to or "draft"
    rows = [_row(path.name, change) for change in diff.changes[:_MAX_CHANGES]]
    head: list[Child] = ["case", "field", "change", "demands", "before", "after"]
    left = len(diff.changes) - _MAX_CHANGES
    return Page(
        title=f"{path.name} {query.from_} → {target}",
        section="Datasets",
        crumbs=(
            ("Datasets", "/datasets"),
            (path.name, address("datasets", path.name)),
            (f"{query.from_} → {target}", ""),
        ),
        content=[
            tag("h1", _headline(len(diff.changes), diff.bump)),
            tag("p", f"{diff.before:,} cases before, {diff.after:,} after.", class_="lead"),
            rows_table("Changes", head, rows, "list versions") if rows else None,
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ],
        command=(
            "diff",
            f"{path.name}@{query.from_}",
            f"{path.name}@{query.to}" if query.to else workspace.golden_file(path.name),
            *workspace.registry_arguments,
        ),
        keys=(("j k", "move"), ("enter", "open")),
    )


def _headline(changes: int, bump: Bump) -> str:
    if not changes:
        return "Nothing changed"
    demand = "demands" if changes == 1 else "demand"
    return f"{count(changes, 'change')} {demand} a {bump} version"


def _row(name: str, change: Change) -> Markup:
    case = change.case
    link = case and tag("a", case, href=address("datasets", name, "cases", case))
    first = tag("small", change.user[:_MAX_USER], dir="auto") if change.user else None
    return tag(
        "tr",
        tag("th", (link if change.kind != "removed" else case) or "dataset", first, scope="row"),
        tag("td", change.field or "", class_="mono"),
        tag("td", change.kind),
        tag("td", change.level),
        *_values(change),
    )


def _values(change: Change) -> tuple[Markup, Markup]:
    """Return both values: what differs in them is marked, or all of one that stands alone."""
    if change.old is None or change.new is None:
        return (
            tag("td", _value(change.old, "del"), class_="wrap", dir="auto"),
            tag("td", _value(change.new, "ins"), class_="wrap", dir="auto"),
        )
    old, new = diff_words(_text(change.old), _text(change.new), MAX_VALUE)
    return tag("td", old, class_="wrap", dir="auto"), tag("td", new, class_="wrap", dir="auto")


def _value(value: Json, mark: str) -> Markup | None:
    return None if value is None else tag(mark, fold_text(_text(value), MAX_VALUE))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else value_text(value)
