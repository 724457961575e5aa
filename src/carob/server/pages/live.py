"""Sessions of live agents as they arrive, and what can be done with them."""

from __future__ import annotations

from typing import Literal

from carob.api.golden.folder import find_file, list_datasets
from carob.api.serving.ingest import Refusals
from carob.api.serving.sessions import (
    count_sessions,
    evaluate_sessions,
    list_sessions,
    session_support,
)
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema.session import Session, SessionCounts, SessionSupport
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    choice,
    commands,
    empty,
    filter_form,
    moment,
    rows_table,
    selection_group,
    text_field,
)
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_LIMIT = 50
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class LiveQuery(Query, frozen=True):
    """Which sessions to list."""

    agent: str | None = None
    state: Literal["open", "complete"] | None = None
    q: str | None = None
    after: str | None = None


class EvaluateForm(Query, frozen=True):
    """Sessions, and the dataset to score them against."""

    dataset: str
    session: tuple[str, ...] = ()


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
    counts = count_sessions(workspace.store)
    support = session_support(workspace.store, listing.items)
    more = address("live", agent=query.agent, state=query.state, q=query.q, after=listing.next)
    region = tag(
        "div",
        _status(counts, workspace.refused()),
        _table(workspace, listing.items, support) if counts.sessions else _nothing(workspace),
        tag("p", tag("a", "Older sessions", href=more, rel="next")) if listing.next else None,
        id="live",
        data_refresh="session ingest",
    )
    states = [("open", "open"), ("complete", "complete")]
    fields = [
        choice("state", "state", states, query.state),
        text_field("text", "q", query.q),
    ]
    pause = tag("button", "Pause", type="button", id="pause", hidden=True, aria_pressed="false")
    return Page(
        title="Live",
        section="Live",
        content=[
            tag(
                "div",
                tag(
                    "div",
                    tag("h1", "Live sessions"),
                    tag("p", _addresses(workspace), class_="quiet"),
                ),
                tag("div", pause, class_="actions"),
                class_="top",
            ),
            filter_form("/live", fields, {"agent": query.agent}, region="live")
            if counts.sessions
            else None,
            region,
        ],
        keys=(
            ("j k", "move"),
            ("x", "select"),
            ("enter", "open"),
            ("g", "make golden"),
            ("v", "evaluate"),
            ("c", "compare with golden"),
            ("r", "regression case"),
            ("d", "discard"),
        ),
    )


@pages.post("/live/evaluate")
def evaluate_selected(workspace: Workspace, form: EvaluateForm) -> Page | Redirect:
    """Score sessions against a dataset. Those that match no case are named, never scored."""
    if not form.session:
        raise RequestError(422, "no session is selected", hint="check the sessions to evaluate")
    file = find_file(workspace.folder, form.dataset)
    evaluation = evaluate_sessions(workspace.store, form.session, file)
    where = address("runs", evaluation.run.id)
    if not evaluation.unmatched:
        return Redirect(where)
    rows = [
        tag("tr", tag("th", entry.trace, scope="row", dir="auto"), tag("td", entry.why, dir="auto"))
        for entry in evaluation.unmatched
    ]
    scored = len(set(form.session)) - len(rows)
    return Page(
        title="Evaluated",
        section="Live",
        crumbs=(("Live", "/live"), ("Evaluated", "")),
        content=[
            tag("h1", f"{count(scored, 'session')} scored against {form.dataset}"),
            tag("p", "The run is ", tag("a", evaluation.run.id, href=where), ".", class_="lead"),
            tag("h2", f"{count(len(rows), 'session')} without a case, not scored"),
            rows_table("Sessions without a case", ["session", "why"], rows),
        ],
    )


def _addresses(workspace: Workspace) -> str:
    names = {"otlp": "OTLP/HTTP", "grpc": "OTLP/gRPC"}
    received = {name: where for name, where in workspace.addresses.items() if name in names}
    return " · ".join(f"{names[name]} {where}" for name, where in received.items())


def _status(counts: SessionCounts, refused: Refusals) -> Markup:
    state = "receiving" if counts.open else "listening"
    text = (
        f"{state} · {count(counts.sessions, 'session')} · {counts.open:,} open · "
        f"{count(counts.spans, 'span')} stored · {_refusals(refused)}"
    )
    beat = tag("span", class_="heartbeat on" if counts.spans else "heartbeat", aria_hidden="true")
    return tag("p", beat, text, role="status", class_="quiet")


def _refusals(refused: Refusals) -> str:
    parts = [
        count(number, name)
        for number, name in ((refused.records, "record"), (refused.requests, "request"))
        if number
    ]
    return f"{' and '.join(parts)} refused since the start" if parts else "0 refused"


def _nothing(workspace: Workspace) -> Markup:
    endpoint = workspace.addresses.get("otlp", "")
    return empty(
        "No session has arrived yet",
        tag("p", "Set two variables where the agent runs, and start it:"),
        commands(f"export OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}", f"export {_CONTENT}=true"),
        tag("p", "This page shows the first span when it arrives, and the mark turns green."),
    )


def _table(
    workspace: Workspace, sessions: tuple[Session, ...], support: dict[str, SessionSupport]
) -> Markup:
    if not sessions:
        return tag("p", "No session matches.")
    head: list[Child] = [
        tag("label", tag("span", "select all", class_="unseen"), _all_box()),
        "state",
        "session",
        "agent",
        "started",
        "#turns",
        "#tools",
        "first message",
        "can be scored by",
    ]
    rows = [_row(session, support.get(session.id)) for session in sessions]
    names = [entry.name for entry in list_datasets(workspace.folder) if entry.file]
    button = tag("button", tag("kbd", "v"), "Evaluate", type="submit", data_key="v")
    against = [tag("option", name, value=name) for name in names]
    dataset = tag(
        "label", tag("span", "against", class_="inline"), tag("select", against, name="dataset")
    )
    return tag(
        "form",
        selection_group("the selected sessions", button, dataset) if names else None,
        rows_table("Sessions", head, rows, "list"),
        method="post",
        action="/live/evaluate",
        data_selection="page",
    )


def _all_box() -> Markup:
    return tag("input", type="checkbox", data_all="session")


def _row(session: Session, support: SessionSupport | None) -> Markup:
    is_open = session.state == "open"
    first = session.first_message
    message: Child = first if first is not None else _unknown(session)
    where = ("live", session.id)
    box = tag(
        "input",
        type="checkbox",
        name="session",
        value=session.id,
        aria_label=f"select {session.id}",
    )
    hidden = [
        tag(
            "a",
            name,
            href=address(*where, name),
            data_row_key=key,
            tabindex="-1",
            class_="unseen" if key == "c" else "unseen writes",
        )
        for key, name in (
            ("g", "golden"),
            ("r", "regression"),
            ("c", "compare"),
            ("d", "discard"),
        )
    ]
    return tag(
        "tr",
        tag("td", box, class_="box"),
        tag(
            "td",
            "● now" if is_open else "○ done",
            class_="nowrap passed" if is_open else "nowrap quiet",
        ),
        tag(
            "th",
            tag("a", session.id, href=address(*where), class_="mono", title=session.id),
            hidden,
            scope="row",
            class_="name",
            dir="auto",
        ),
        tag(
            "td",
            breakable(session.agent)
            if session.agent
            else tag("span", "not recorded", class_="quiet"),
            dir="auto",
        ),
        tag("td", moment(session.started_at), class_="quiet"),
        tag("td", "" if session.turns is None else f"{session.turns:,}", class_="n"),
        tag("td", "" if session.tools is None else f"{session.tools:,}", class_="n"),
        tag("td", message, class_="first", dir="auto"),
        tag("td", _support(support), class_="support"),
        data_id=session.id,
    )


def _support(support: SessionSupport | None) -> Child:
    if support is None:
        return tag("span", "not read yet", class_="quiet")
    text = f"{support.metrics} of {count(support.total, 'metric')}"
    return [text, tag("small", _setting(support.setting)) if support.setting else None]


def _setting(text: str) -> Markup:
    """Return a setting whose long name may break at its underscores."""
    parts = text.split("`")
    return join(
        [
            tag("code", breakable(part)) if place % 2 else breakable(part)
            for place, part in enumerate(parts)
        ]
    )


def _unknown(session: Session) -> Markup:
    text = "not read yet" if session.turns is None else "(content not recorded)"
    return tag("span", text, class_="quiet")
