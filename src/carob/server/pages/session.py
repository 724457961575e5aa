"""One live session: its conversation, which metrics it supports, and making it golden."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from carob.api.golden.folder import find_file, list_datasets
from carob.api.serving.sessions import (
    add_golden_session,
    capture_session,
    compare_session,
    discard_session,
    evaluate_sessions,
    open_session,
    session_span_list,
)
from carob.api.views.case import align_turns
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Trace, Turn
from carob.schema.session import CapturedCase, SessionDetail
from carob.server.binding import Query
from carob.server.pages.conversation import call_pair, plain_call, plain_turn, response_pair
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
from carob.server.pages.spans import waterfall
from carob.server.paths import SessionPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_FEW_TURNS = 30
_NEW_FORMATS = ("adk", "questions", "examples", "csv")


class SessionPageQuery(Query, frozen=True):
    """What of the session to show."""

    tab: Literal["raw"] | None = None


class TurnQuery(Query, frozen=True):
    """The whole session, or one turn of it."""

    turn: Annotated[int, msgspec.Meta(ge=1)] | None = None


class GoldenCaseQuery(Query, frozen=True):
    """The dataset to find the golden case in."""

    dataset: str | None = None


class GoldenForm(Query, frozen=True):
    """The dataset that a session is added to, or the name and format of a new one."""

    dataset: str = ""
    new: str = ""
    format: str = "adk"
    tags: str = ""
    turn: int | None = None


class DatasetForm(Query, frozen=True):
    """The dataset that a session is evaluated against."""

    dataset: str


@pages.get("/live/{session:path}/golden")
def preview_golden(workspace: Workspace, path: SessionPath, query: TurnQuery) -> Page:
    """Show the golden case that a session would become."""
    captured = capture_session(workspace.store, path.session, turn=query.turn)
    case = captured.case
    lineage = [f"{key} {value}" for key, value in case.metadata.items()]
    return Page(
        title=f"Make golden: {path.session}",
        section="Live",
        crumbs=_crumbs(path.session, "Make golden"),
        content=[
            tag(
                "h1", "Make this session golden" if query.turn is None else "Make this turn golden"
            ),
            _findings(captured),
            _golden_form(workspace, path.session, query.turn),
            tag("h2", "The case as it will be written", class_="golden"),
            tag(
                "p",
                f"id {case.id} · review draft · {' · '.join(lineage)}",
                class_="quiet",
                dir="auto",
            ),
            _turns(case.turns, path.session, golden=True),
        ],
        keys=(("enter", "add to the draft"), ("esc", "back")),
    )


@pages.post("/live/{session:path}/golden")
def make_golden(workspace: Workspace, path: SessionPath, form: GoldenForm) -> Redirect:
    """Add the case of a session to the draft of a dataset."""
    name = form.new.strip() or form.dataset
    if not name:
        raise RequestError(422, "no dataset is chosen", hint="choose one, or name a new one")
    captured = add_golden_session(
        workspace.store,
        path.session,
        workspace.folder,
        name,
        form.format if form.new.strip() else None,
        turn=form.turn,
        tags=[word.strip() for word in form.tags.split(",") if word.strip()],
    )
    return Redirect(address("datasets", name, accepted=captured.case.id))


@pages.get("/live/{session:path}/compare")
def compare_golden(workspace: Workspace, path: SessionPath, query: GoldenCaseQuery) -> Page:
    """Show a session beside the golden case that it belongs to."""
    names = _names(workspace)
    if not names:
        raise RequestError(409, "there is no golden data to compare with")
    name = query.dataset or names[0]
    pair, trace = compare_session(workspace.store, path.session, find_file(workspace.folder, name))
    form = tag(
        "form",
        dataset_choice(names, name),
        tag("button", "Compare", type="submit"),
        class_="filters",
    )
    content: list[Child] = [tag("h1", "Compare with golden"), form]
    if pair.case is None:
        content.append(tag("p", f"Not compared: {pair.reason}.", class_="lead"))
    else:
        edit = address("datasets", name, "cases", pair.case.id, "edit")
        case = tag("a", pair.case.id, href=edit)
        content += [
            tag("p", "Golden case ", case, f", matched {pair.reason}.", class_="lead"),
            tag(
                "div",
                tag("h2", "Expected", class_="golden"),
                tag("h2", "Actual"),
                class_="pair head",
            ),
            [
                tag(
                    "article",
                    plain_turn("user", (turn.expected or turn.actual or Turn()).user),
                    [call_pair(step, ()) for step in turn.script or ()],
                    response_pair(
                        turn.expected.response if turn.expected else None,
                        turn.actual.response if turn.actual else None,
                        missing_turn=turn.actual is None,
                        extra_turn=turn.expected is None,
                    ),
                    class_="turn",
                )
                for turn in align_turns(pair.case, trace)
            ],
        ]
    return Page(
        title=f"Compare {path.session}",
        section="Live",
        crumbs=_crumbs(path.session, "Compare"),
        content=content,
    )


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
        crumbs=_crumbs(path.session, "Discard"),
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


def _crumbs(session: str, name: str) -> tuple[tuple[str, str], ...]:
    return (("Live", "/live"), (session, address("live", session)), (name, ""))


def _names(workspace: Workspace) -> list[str]:
    return [entry.name for entry in list_datasets(workspace.folder) if entry.file]


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
    names = _names(workspace)
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


def _golden_form(workspace: Workspace, session: str, turn: int | None) -> Markup:
    names = _names(workspace)
    formats = [tag("option", name, value=name) for name in _NEW_FORMATS]
    new = tag(
        "details",
        tag("summary", "or a new dataset"),
        tag(
            "div",
            tag("label", tag("span", "name"), tag("input", name="new", pattern="[\\w-]+")),
            tag("label", tag("span", "format"), tag("select", formats, name="format")),
            class_="actions",
        ),
        open=not names,
    )
    return tag(
        "form",
        tag(
            "div",
            dataset_choice(names) if names else None,
            tag("label", tag("span", "tags, separated by commas"), tag("input", name="tags")),
            tag("button", "Add to the draft", type="submit", class_="gold", autofocus=True),
            class_="actions",
        ),
        new,
        tag("input", type="hidden", name="turn", value=str(turn)) if turn else None,
        method="post",
        action=address("live", session, "golden"),
    )


def _findings(captured: CapturedCase) -> Markup:
    if not captured.problems:
        return tag("p", "No personal data or secrets found, nothing is missing.", class_="lead")
    title = tag("h2", f"Look at this first: {count(len(captured.problems), 'finding')}")
    return join([title, problem_list(captured.problems)])


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
    return [tag("h2", "Conversation"), _turns(trace.turns, session)]


def _raw(trace: Trace | None) -> Child:
    bare = trace and msgspec.structs.replace(trace, spans=())
    text = msgspec.json.format(msgspec.json.encode(bare), indent=2).decode()
    return [tag("h2", "Trace"), tag("pre", tag("code", text), tabindex="0", dir="auto")]


def _turns(turns: tuple[Turn, ...], session: str, *, golden: bool = False) -> Child:
    fold = len(turns) > _FEW_TURNS
    return [_turn(number, turn, session, golden, fold) for number, turn in enumerate(turns, 1)]


def _turn(number: int, turn: Turn, session: str, golden: bool, fold: bool) -> Markup:
    link = tag("a", "make golden", href=address("live", session, "golden", turn=number))
    content = [
        plain_turn("user", turn.user),
        [plain_call(call, turn.tool_results) for call in turn.tool_calls or ()],
        plain_turn("agent", turn.response),
    ]
    if fold:
        shown = tag("span", (turn.user or "(not recorded)")[:300], class_="clamp")
        summary = tag("summary", f"Turn {number}", shown)
        return tag("details", summary, content, class_="turn")
    title = tag("h3", f"Turn {number}", None if golden else tag("small", link))
    return tag("article", title, content, class_="turn")
