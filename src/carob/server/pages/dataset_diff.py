"""What changed between two versions of a dataset, and the version that this demands."""

from __future__ import annotations

from carob.api.golden.drafts import load_draft
from carob.api.golden.folder import GoldenFolder
from carob.api.versions import diff_datasets
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema.versions import Bump, Change
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, rows_table, value_text
from carob.server.workspace import Workspace

pages = Pages()
_MAX_CHANGES = 1000
_MAX_VALUE = 2000


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
    rows = [_row(change) for change in diff.changes[:_MAX_CHANGES]]
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
            rows_table("Changes", head, rows, "versions") if rows else None,
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ],
        command=(
            "diff",
            f"{path.name}@{query.from_}",
            f"{path.name}@{query.to}" if query.to else workspace.golden_file(path.name),
            *workspace.registry_arguments,
        ),
    )


def _headline(changes: int, bump: Bump) -> str:
    if not changes:
        return "Nothing changed"
    demand = "demands" if changes == 1 else "demand"
    return f"{count(changes, 'change')} {demand} a {bump} version"


def _row(change: Change) -> Markup:
    return tag(
        "tr",
        tag("th", change.case or "dataset", scope="row", dir="auto"),
        tag("td", change.field or "", class_="mono"),
        tag("td", change.kind),
        tag("td", change.level),
        tag("td", _value(change.old), class_="wrap removed", dir="auto"),
        tag("td", _value(change.new), class_="wrap added", dir="auto"),
    )


def _value(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else value_text(value)  # pyright: ignore[reportArgumentType]
    return text[:_MAX_VALUE]
