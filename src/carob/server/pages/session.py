"""One live session: its conversation, which metrics it supports, and making it golden."""

from __future__ import annotations

from carob.api.golden import GoldenFolder, find_file, list_datasets
from carob.api.sessions import capture_session, discard_session, evaluate_sessions, open_session
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Trace, Turn
from carob.schema.session import CapturedCase, SessionDetail
from carob.server.binding import Query
from carob.server.pages.conversation import plain_turn
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, moment, rows_table, value_text
from carob.server.pages.spans import waterfall
from carob.server.workspace import Workspace

pages = Pages()


class SessionPath(Query, frozen=True):
    """A session."""

    session: str


class DatasetForm(Query, frozen=True):
    """The dataset that a session is added to or evaluated against."""

    dataset: str


@pages.get("/live/{session:path}/golden")
def preview_golden(workspace: Workspace, path: SessionPath) -> Page:
    """Show the golden case that a session would become."""
    captured = capture_session(workspace.store, path.session)
    names = [
        entry.name
        for entry in list_datasets(GoldenFolder(workspace.golden, workspace.registry))
        if entry.file
    ]
    return Page(
        title=f"Make golden: {path.session}",
        section="Live",
        crumbs=(
            ("Live", "/live"),
            (path.session, address("live", path.session)),
            ("Make golden", ""),
        ),
        content=[
            tag("h1", "Make this session golden"),
            _findings(captured),
            _dataset_form(path.session, "golden", "Add to the draft", names),
            tag("h2", "The case as it will be written"),
            [_turn(number, turn) for number, turn in enumerate(captured.case.turns, 1)],
        ],
    )


@pages.post("/live/{session:path}/golden")
def make_golden(workspace: Workspace, path: SessionPath, form: DatasetForm) -> Redirect:
    """Add the case of a session to the draft of a dataset."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    file = find_file(folder, form.dataset)
    captured = capture_session(workspace.store, path.session, dataset=file)
    return Redirect(address("datasets", form.dataset, "cases", captured.case.id, "edit"))


@pages.post("/live/{session:path}/evaluate")
def evaluate_session(workspace: Workspace, path: SessionPath, form: DatasetForm) -> Redirect:
    """Score a session against the case of a dataset that it matches."""
    folder = GoldenFolder(workspace.golden, workspace.registry)
    file = find_file(folder, form.dataset)
    evaluation = evaluate_sessions(workspace.store, [path.session], file)
    return Redirect(address("runs", evaluation.run.id))


@pages.post("/live/{session:path}/discard")
def discard(workspace: Workspace, path: SessionPath) -> Redirect:
    """Remove a session."""
    discard_session(workspace.store, path.session)
    return Redirect("/live")


@pages.get("/live/{session:path}")
def show_session(workspace: Workspace, path: SessionPath) -> Page:
    """Show a session."""
    detail = open_session(workspace.store, path.session)
    trace = detail.trace
    return Page(
        title=path.session,
        section="Live",
        crumbs=(("Live", "/live"), (path.session, "")),
        content=[
            tag("h1", tag("span", path.session, class_="mono", dir="auto")),
            _facts(detail),
            _actions(workspace, path.session) if trace else None,
            _support(detail),
            tag("h2", "Conversation"),
            _conversation(trace),
            waterfall(trace) if trace else None,
        ],
        keys=(("g", "make golden"),),
    )


def _facts(detail: SessionDetail) -> Markup:
    session = detail.session
    facts = [session.state, session.agent or "agent not recorded", count(session.spans, "span")]
    return tag("p", " · ".join(facts), " · last span ", moment(session.updated_at), class_="quiet")


def _actions(workspace: Workspace, session: str) -> Markup:
    folder = GoldenFolder(workspace.golden, workspace.registry)
    names = [entry.name for entry in list_datasets(folder) if entry.file]
    golden = tag(
        "a",
        "Make golden…",
        href=address("live", session, "golden"),
        id="make-golden",
        class_="button gold",
    )
    drop = tag(
        "form",
        tag("button", "Discard", type="submit"),
        method="post",
        action=address("live", session, "discard"),
    )
    evaluate = _dataset_form(session, "evaluate", "Evaluate", names) if names else None
    return tag("div", golden, evaluate, drop, class_="actions")


def _dataset_form(session: str, action: str, label: str, names: list[str]) -> Markup:
    if not names:
        return tag("p", "There is no golden file to add to: put one into the golden folder.")
    options = [tag("option", name, value=name) for name in names]
    return tag(
        "form",
        tag("label", tag("span", "dataset"), tag("select", options, name="dataset")),
        tag("button", label, type="submit", class_="gold" if action == "golden" else None),
        method="post",
        action=address("live", session, action),
        class_="filters",
    )


def _findings(captured: CapturedCase) -> Markup:
    if not captured.problems:
        return tag("p", "No personal data or secrets found, nothing is missing.", class_="lead")
    rows = [
        tag(
            "tr",
            tag("td", problem.severity, class_="failed"),
            tag("th", problem.message, scope="row", dir="auto"),
            tag("td", problem.where, dir="auto"),
            tag("td", problem.hint or "", class_="wrap"),
        )
        for problem in captured.problems
    ]
    title = tag("h2", f"Look at this first: {count(len(rows), 'finding')}")
    return join([title, rows_table("Findings", ["", "finding", "where", "hint"], rows)])


def _support(detail: SessionDetail) -> Markup | None:
    if not detail.supports:
        return None
    good = [name for name, why in detail.supports.items() if why is None]
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", why, class_="wrap"))
        for name, why in detail.supports.items()
        if why is not None
    ]
    hints = [tag("p", tag("strong", "To record more: "), hint) for hint in detail.hints]
    return tag(
        "section",
        tag("p", f"Can be scored by {len(good)} of {len(detail.supports)} metrics.", class_="lead"),
        hints,
        tag(
            "details",
            tag("summary", f"{count(len(rows), 'metric')} cannot, and why"),
            rows_table("Metrics that cannot score this", ["metric", "why"], rows),
        )
        if rows
        else None,
    )


def _conversation(trace: Trace | None) -> Child:
    if trace is None:
        return tag("p", "No agent was at work in its spans.")
    return [_turn(number, turn) for number, turn in enumerate(trace.turns, 1)]


def _turn(number: int, turn: Turn) -> Markup:
    calls = [
        tag(
            "p",
            tag("strong", call.name),
            " ",
            "" if call.args is None else value_text(call.args)[:2000],
            class_="call mono",
            dir="auto",
        )
        for call in turn.tool_calls or ()
    ]
    return tag(
        "article",
        tag("h3", f"Turn {number}"),
        plain_turn("user", turn.user),
        calls,
        plain_turn("agent", turn.response),
        class_="turn",
    )
