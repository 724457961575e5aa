"""The golden datasets of the server's folder."""

from __future__ import annotations

from carob.api.golden import GoldenFolder, list_datasets
from carob.report.markup import Child, Markup, tag
from carob.schema.draft import GoldenEntry
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, commands, empty, rows_table
from carob.server.workspace import Workspace

pages = Pages()


@pages.get("/datasets")
def show_datasets(workspace: Workspace) -> Page:
    """List the golden datasets."""
    entries = list_datasets(GoldenFolder(workspace.golden, workspace.registry))
    head: list[Child] = ["dataset", "file", "format", "#cases", "released", "problems"]
    content = (
        rows_table("Datasets", head, [_row(entry) for entry in entries], "list")
        if entries
        else empty(
            "No golden data yet",
            tag("p", "Put golden files of any format into the folder ", _code(workspace), "."),
            commands("carob convert cases.csv golden/support.json --to questions"),
        )
    )
    return Page(
        title="Datasets",
        section="Datasets",
        content=[tag("h1", "Datasets"), content],
        command="carob versions",
        keys=(("j k", "move"), ("enter", "open")),
    )


def _code(workspace: Workspace) -> Markup:
    return tag("code", f"{workspace.golden.name}/")


def _row(entry: GoldenEntry) -> Markup:
    reference = entry.name if entry.file else f"{entry.name}@{entry.version}"
    return tag(
        "tr",
        tag("th", tag("a", entry.name, href=address("datasets", reference)), scope="row"),
        tag("td", entry.file or tag("span", "releases only", class_="quiet"), class_="mono"),
        tag("td", entry.format or ""),
        tag("td", "" if entry.cases is None else f"{entry.cases:,}", class_="n"),
        tag("td", entry.version or tag("span", "not released", class_="quiet")),
        tag("td", [problem.message for problem in entry.problems], class_="failed wrap"),
    )
