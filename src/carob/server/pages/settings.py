"""Settings: addresses, versions, tokens; no secrets."""

from __future__ import annotations

import platform

from carob import __version__
from carob.api.store import stored_bytes
from carob.api.tokens import list_tokens
from carob.report.markup import Markup, join, tag
from carob.server.pages.layout import key_list
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import commands, moment, rows_table
from carob.server.workspace import Workspace

pages = Pages()


@pages.get("/settings")
def show_settings(workspace: Workspace) -> Page:
    """Show how this server is set up."""
    runs = stored_bytes(workspace.store)
    facts = {
        **{f"{name} address": where for name, where in workspace.addresses.items()},
        "store": "PostgreSQL" if runs is None else f"SQLite, {runs / 2**20:,.1f} MiB",
        "golden folder": f"{workspace.golden.name}/",
        "Carob": __version__,
        "Python": platform.python_version(),
    }
    tokens = [
        tag(
            "tr",
            tag("th", token.name, scope="row"),
            tag("td", ", ".join(token.roles)),
            tag("td", moment(token.created_at), class_="quiet"),
        )
        for token in list_tokens(workspace.store)
    ]
    return Page(
        title="Settings",
        section="Settings",
        content=[
            tag("h1", "Settings"),
            tag("dl", [[tag("dt", name), tag("dd", text)] for name, text in facts.items()]),
            tag("h2", "Tokens"),
            rows_table("Tokens", ["name", "roles", "created"], tokens)
            if tokens
            else tag("p", "None. A server on loopback needs none."),
            commands("carob serve token new NAME --role read"),
            tag("h2", "Keys"),
            tag("p", _opener(), class_="scripts"),
            key_list(),
        ],
    )


def _opener() -> Markup:
    text = "Single keys can be switched off in this list, for this browser."
    return join(
        [tag("button", "Open the list", type="button", data_opens="keys", hidden=True), " ", text]
    )
