"""Sessions of live agents as they arrive."""

from __future__ import annotations

from typing import Literal

from carob.api.sessions import list_sessions
from carob.report.markup import Child, Markup, tag
from carob.schema.session import Session
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    choice,
    commands,
    empty,
    filter_form,
    moment,
    rows_table,
    text_field,
)
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 100
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class LiveQuery(Query, frozen=True):
    """Which sessions to list."""

    agent: str | None = None
    state: Literal["open", "complete"] | None = None
    q: str | None = None
    after: str | None = None


@pages.get("/live")
def show_live(workspace: Workspace, query: LiveQuery) -> Page:
    """List sessions, the one that changed last first."""
    listing = list_sessions(
        workspace.store,
        agent=query.agent,
        state=query.state,
        text=query.q,
        limit=_LIMIT,
        after=query.after,
    )
    filtered = query.agent or query.state or query.q or query.after
    head: list[Child] = [
        "state",
        "session",
        "agent",
        "started",
        "#turns",
        "#tools",
        "first message",
    ]
    fields = [
        choice("state", "state", [("open", "open"), ("complete", "complete")], query.state),
        text_field("text", "q", query.q),
    ]
    content: list[Child] = [
        tag("h1", "Live sessions"),
        tag("p", _addresses(workspace), class_="quiet"),
    ]
    if listing.items or filtered:
        rows = [_row(session) for session in listing.items]
        table = rows_table("Sessions", head, rows, "list")
        content += [
            filter_form("/live", fields, {"agent": query.agent}),
            tag("div", table if rows else tag("p", "No session matches."), id="live"),
        ]
    else:
        content.append(_nothing(workspace))
    if listing.next:
        link = address("live", agent=query.agent, state=query.state, q=query.q, after=listing.next)
        content.append(tag("p", tag("a", "Older sessions", href=link, rel="next")))
    return Page(
        title="Live",
        section="Live",
        content=content,
        keys=(("j k", "move"), ("enter", "open")),
    )


def _addresses(workspace: Workspace) -> str:
    return " · ".join(f"{name} {where}" for name, where in workspace.addresses.items())


def _nothing(workspace: Workspace) -> Markup:
    endpoint = workspace.addresses.get("otlp", "")
    return empty(
        "No session has arrived yet",
        tag("p", "Set two variables where the agent runs, and start it:"),
        commands(f"export OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}", f"export {_CONTENT}=true"),
        tag("p", "This page shows the first span when it arrives.", role="status"),
    )


def _row(session: Session) -> Markup:
    state = "● now" if session.state == "open" else "○ done"
    first = session.first_message
    message: Child = first if first is not None else _unknown(session)
    return tag(
        "tr",
        tag("td", state, class_="passed" if session.state == "open" else "quiet"),
        tag(
            "th",
            tag("a", session.id, href=address("live", session.id), class_="mono"),
            scope="row",
            dir="auto",
        ),
        tag("td", session.agent or tag("span", "not recorded", class_="quiet"), dir="auto"),
        tag("td", moment(session.started_at), class_="quiet"),
        tag("td", "" if session.turns is None else f"{session.turns:,}", class_="n"),
        tag("td", "" if session.tools is None else f"{session.tools:,}", class_="n"),
        tag("td", message, class_="first", dir="auto"),
    )


def _unknown(session: Session) -> Markup:
    text = "not read yet" if session.turns is None else f"not recorded: set {_CONTENT}"
    return tag("span", text, class_="quiet")
