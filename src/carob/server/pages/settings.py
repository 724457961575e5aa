"""Settings: addresses, versions, tokens; no secrets."""

from __future__ import annotations

import platform
import shutil

from carob import __version__
from carob.api.serving.tokens import list_tokens
from carob.api.store import stored_bytes
from carob.report.markup import Markup, join, tag
from carob.server.pages.layout import key_list
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import commands, moment, rows_table
from carob.server.workspace import Workspace

pages = Pages()
_ADDRESSES = {"pages": "pages and REST", "otlp": "OTLP/HTTP", "grpc": "OTLP/gRPC"}


@pages.get("/settings")
def show_settings(workspace: Workspace) -> Page:
    """Show how this server is set up."""
    runs = stored_bytes(workspace.store)
    facts = {
        **{_ADDRESSES.get(name, name): where for name, where in workspace.addresses.items()},
        "store": "PostgreSQL" if runs is None else f"SQLite, {runs / 2**20:,.1f} MiB",
        "golden folder": f"{workspace.golden.name}/",
        "disk": _disk(workspace),
        "retention": _retention(workspace),
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
            else tag("p", "None. A server that only this machine can reach needs none."),
            commands("carob serve token new NAME --role read"),
            tag("h2", "Keys", id="all-keys"),
            tag("p", _opener(), class_="scripts"),
            key_list(),
        ],
    )


def _disk(workspace: Workspace) -> str:
    folder = next(path for path in (workspace.golden, *workspace.golden.parents) if path.exists())
    usage = shutil.disk_usage(folder)
    return f"{usage.free / 2**30:,.1f} GiB of {usage.total / 2**30:,.1f} GiB free"


def _retention(workspace: Workspace) -> str:
    if workspace.upkeep is None:
        return "sessions are kept"
    rules = workspace.upkeep.settings
    return (
        f"sessions are removed after {rules.keep_days:g} days without spans, the oldest beyond "
        f"{rules.keep_gb:g} GB; golden and labelled ones are kept"
    )


def _opener() -> Markup:
    text = "Single keys can be switched off in this list, for this browser."
    return join(
        [tag("button", "Open the list", type="button", data_opens="keys", hidden=True), " ", text]
    )
