"""Upload: check golden data of any format, without a command line."""

from __future__ import annotations

from carob.report.markup import Markup, tag
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import commands
from carob.server.workspace import Workspace

pages = Pages()


@pages.get("/upload")
def show_upload(workspace: Workspace) -> Page:
    """Show the forms that send a file."""

    def form(title: str, action: str, button: str) -> Markup:
        return tag(
            "form",
            tag("h2", title),
            tag(
                "label", tag("span", "file"), tag("input", type="file", name="file", required=True)
            ),
            tag("button", button, type="submit"),
            method="post",
            action=action,
            enctype="multipart/form-data",
            class_="upload",
        )

    address = workspace.addresses.get("pages", "")
    return Page(
        title="Upload",
        section="Upload",
        content=[
            tag("h1", "Upload"),
            tag("p", "Golden data of any format is recognized by its content.", class_="lead"),
            form("Validate golden data", "/api/validate", "Validate"),
            form("Find personal data, duplicates and contradictions", "/api/lint", "Lint"),
            tag("h2", "From a script"),
            commands(f"curl -F file=@golden.json {address}/api/validate"),
        ],
    )
