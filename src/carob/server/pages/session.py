"""One live session: its conversation, which metrics it supports, and making it golden."""

from __future__ import annotations

from typing import Literal

import msgspec

from carob.api.golden.folder import find_file
from carob.api.serving.sessions import (
    discard_session,
    evaluate_sessions,
    open_session,
    session_span_list,
)
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Trace, Turn
from carob.schema.session import SessionDetail
from carob.server.binding import Query
from carob.server.pages.conversation import (
    plain_agents,
    plain_call,
    plain_turn,
)
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    dataset_choice,
    link_button,
    moment,
    post_button,
    problem_list,
    rows_table,
)
from carob.server.pages.regression import dataset_names
from carob.server.pages.spans import waterfall
from carob.server.pages.texts import RAW, json_text
from carob.server.paths import SessionPath
from carob.server.workspace import Workspace

pages = Pages()
_FEW_TURNS = 30


class SessionPageQuery(Query, frozen=True):
    """What of the session to show."""

    tab: Literal["raw"] | None = None


class DatasetForm(Query, frozen=True):
    """The dataset that a session is evaluated against."""

    dataset: str


@pages.post("/live/{session:path}/evaluate")
def evaluate_session(workspace: Workspace, path: SessionPath, form: DatasetForm) -> Redirect:
    """Score a session against the case of a dataset that it matches."""
    file = find_file(workspace.folder, form.dataset)
    evaluation = evaluate_sessions(workspace.store, [path.session], file)
    return Redirect(address("runs", evaluation.run.id))


@pages.get("/live/{session:path}/discard")
def confirm_discard(workspace: Workspace, path: SessionPath) -> Page:
    """Ask before a session is removed."""
    detail = open_session(workspace.store, path.session)
    spans = count(detail.session.spans, "span")
    return Page(
        title=f"Discard {path.session}",
        section="Live",
        crumbs=session_crumbs(path.session, "Discard"),
        content=[
            tag("h1", "Discard this session?"),
            tag("p", tag("bdi", path.session), f" and its {spans} are removed.", class_="lead"),
            post_button("Discard", address("live", path.session, "discard"), key="d"),
        ],
        keys=(("d", "discard"), ("esc", "back")),
    )


@pages.post("/live/{session:path}/discard")
def discard(workspace: Workspace, path: SessionPath) -> Redirect:
    """Remove a session."""
    discard_session(workspace.store, path.session)
    return Redirect("/live")


@pages.get("/live/{session:path}")
def show_session(workspace: Workspace, path: SessionPath, query: SessionPageQuery) -> Page:
    """Show a session."""
    detail = open_session(workspace.store, path.session)
    trace = detail.trace
    region = tag(
        "div",
        _facts(detail),
        _support(detail),
        problem_list(detail.problems),
        _raw(trace) if query.tab else _conversation(trace, path.session),
        _spans(workspace, path.session, trace) if not query.tab else None,
        id="session",
        data_refresh="session",
    )
    return Page(
        title=path.session,
        section="Live",
        crumbs=(("Live", "/live"), (path.session, "")),
        content=[
            tag("h1", tag("span", path.session, class_="mono", dir="auto")),
            _actions(workspace, path.session) if trace else None,
            region,
        ],
        keys=(
            ("g", "make golden"),
            ("v", "evaluate"),
            ("c", "compare"),
            ("r", "regression case"),
            ("d", "discard"),
        ),
    )


def _spans(workspace: Workspace, session: str, trace: Trace | None) -> Markup:
    turns = trace.turns if trace else ()
    return waterfall(session_span_list(workspace.store, session), turns)


def session_crumbs(session: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return the way to a page of a session."""
    return (("Live", "/live"), (session, address("live", session)), (name, ""))


def _facts(detail: SessionDetail) -> Markup:
    session = detail.session
    facts = [session.state, session.agent or "agent not recorded", count(session.spans, "span")]
    if session.kept:
        facts.append("kept: it is golden or labelled")
    text = " · ".join(facts)
    return tag(
        "p",
        tag("span", text, role="status"),
        " · last span ",
        moment(session.updated_at),
        class_="quiet",
    )


def _actions(workspace: Workspace, session: str) -> Markup:
    names = dataset_names(workspace)
    evaluate = tag(
        "form",
        dataset_choice(names),
        tag("button", tag("kbd", "v"), "Evaluate", type="submit", data_key="v"),
        method="post",
        action=address("live", session, "evaluate"),
    )
    compare = link_button("Compare with golden", address("live", session, "compare"), key="c")
    where = address("live", session, "regression")
    failed = link_button("Capture as a regression case…", where, key="r", writes=True)
    return tag(
        "div",
        link_button(
            "Make golden…", address("live", session, "golden"), key="g", gold=True, writes=True
        ),
        [compare, evaluate, failed] if names else None,
        link_button("Discard…", address("live", session, "discard"), key="d", writes=True),
        class_="actions",
    )


def _support(detail: SessionDetail) -> Markup | None:
    if not detail.supports:
        return None
    good = [name for name, why in detail.supports.items() if why is None]
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", why, class_="wrap"))
        for name, why in detail.supports.items()
        if why is not None
    ]
    hints = [
        tag("p", tag("strong", "To record more: "), hint, class_="note") for hint in detail.hints
    ]
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


def _conversation(trace: Trace | None, session: str) -> Child:
    if trace is None:
        return tag("p", "No agent was at work in its spans.")
    return [tag("h2", "Conversation"), session_turns(trace.turns, session)]


def _raw(trace: Trace | None) -> Child:
    bare = trace and msgspec.structs.replace(trace, spans=())
    return [tag("h2", "Trace"), json_text(bare)]


def session_turns(turns: tuple[Turn, ...], session: str, *, golden: bool = False) -> Child:
    """Return the turns of a session; with `golden`, as they become golden data."""
    fold = len(turns) > _FEW_TURNS
    return [_turn(number, turn, session, golden, fold) for number, turn in enumerate(turns, 1)]


def _turn(number: int, turn: Turn, session: str, golden: bool, fold: bool) -> Markup:
    link = tag("a", "make golden", href=address("live", session, "golden", turn=number))
    raw = None if golden else RAW
    content = [
        plain_turn("user", turn.user, raw=raw, mark_private=golden),
        plain_agents(turn),
        [
            plain_call(call, turn.tool_results, mark_private=golden)
            for call in turn.tool_calls or ()
        ],
        plain_turn("agent", turn.response, raw=raw, mark_private=golden),
    ]
    if fold:
        shown = tag("span", (turn.user or "(not recorded)")[:300], class_="clamp")
        summary = tag("summary", f"Turn {number}", shown)
        return tag("details", summary, content, class_="turn")
    title = tag("h3", f"Turn {number}", None if golden else tag("small", link))
    return tag("article", title, content, class_="turn")
