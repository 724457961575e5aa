"""The golden datasets of the server's folder."""

from __future__ import annotations

from carob.api.golden.folder import add_dataset, list_datasets
from carob.report.markup import Child, Markup, tag
from carob.schema.draft import GoldenEntry
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, commands, empty, rows_table
from carob.server.uploads import Upload
from carob.server.workspace import Workspace

pages = Pages()


@pages.get("/datasets")
def show_datasets(workspace: Workspace) -> Page:
    """List the golden datasets."""
    entries = list_datasets(workspace.folder)
    head: list[Child] = ["dataset", "file", "format", "#cases", "released", ""]
    content = (
        rows_table("Datasets", head, [_row(entry) for entry in entries], "list")
        if entries
        else empty(
            "No golden data yet",
            tag(
                "p", "Drop a file of any format below, or put it into the folder ", _code(workspace)
            ),
            commands("carob convert cases.csv golden/support.json --to questions"),
        )
    )
    return Page(
        title="Datasets",
        section="Datasets",
        content=[
            tag("h1", "Datasets"),
            tag("div", content, id="datasets", data_refresh="dataset"),
            drop_form("Add golden data", "/datasets", "Add"),
        ],
        command=("show", str(workspace.golden)) if entries else None,
        keys=(("j k", "move"), ("enter", "open")),
    )


@pages.post("/datasets")
def upload_dataset(workspace: Workspace, upload: Upload) -> Redirect:
    """Add a golden file of any format to the folder."""
    entry = add_dataset(workspace.folder, upload.path, upload.name)
    return Redirect(address("datasets", entry.name))


def drop_form(title: str, action: str, button: str, *, note: str | None = None) -> Markup:
    """Return a form that sends a file, chosen or dropped."""
    field = tag("input", type="file", name="file", required=True)
    return tag(
        "form",
        tag("h2", title),
        tag("p", note, class_="quiet") if note else None,
        tag(
            "div",
            tag("label", tag("span", "file, or drop it here"), field),
            tag("button", button, type="submit"),
            class_="actions",
        ),
        method="post",
        action=action,
        enctype="multipart/form-data",
        class_="drop",
    )


def _code(workspace: Workspace) -> Markup:
    return tag("code", f"{workspace.golden.name}/")


def _row(entry: GoldenEntry) -> Markup:
    reference = entry.name if entry.file else f"{entry.name}@{entry.version}"
    problems = [problem.message for problem in entry.problems]
    return tag(
        "tr",
        tag(
            "th", tag("a", entry.name, href=address("datasets", reference)), scope="row", dir="auto"
        ),
        tag("td", entry.file or tag("span", "releases only", class_="quiet"), class_="mono"),
        tag("td", entry.format or ""),
        tag("td", "" if entry.cases is None else f"{entry.cases:,}", class_="n"),
        tag("td", entry.version or tag("span", "not released", class_="quiet")),
        tag("td", problems, class_="failed wrap", dir="auto")
        if problems
        else tag("td", tag("a", "runs", href=address("runs", dataset=entry.name))),
        data_id=reference,
    )
