"""A live session becomes golden data, or is shown beside the golden case that it belongs to."""

from __future__ import annotations

from typing import Annotated

import msgspec

from carob.api.golden.drafts import find_same_start
from carob.api.golden.folder import find_file
from carob.api.serving.sessions import add_golden_session, capture_session, compare_session
from carob.api.views.case import align_turns
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Case, Turn
from carob.schema.session import CapturedCase
from carob.server.binding import Query
from carob.server.pages.conversation import agents_pair, call_pair, plain_turn, response_pair
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, dataset_choice, problem_list
from carob.server.pages.regression import dataset_names
from carob.server.pages.session import session_crumbs, session_turns
from carob.server.paths import SessionPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_MAX_SAME = 5
_NEW_FORMATS = ("adk", "questions", "examples", "csv")


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


@pages.get("/live/{session:path}/golden")
def preview_golden(workspace: Workspace, path: SessionPath, query: TurnQuery) -> Page:
    """Show the golden case that a session would become."""
    captured = capture_session(workspace.store, path.session, turn=query.turn)
    case = captured.case
    lineage = [f"{key} {value}" for key, value in case.metadata.items()]
    return Page(
        title=f"Make golden: {path.session}",
        section="Live",
        crumbs=session_crumbs(path.session, "Make golden"),
        content=[
            tag(
                "h1", "Make this session golden" if query.turn is None else "Make this turn golden"
            ),
            _findings(captured),
            _same_start(workspace, path.session, captured.case),
            _golden_form(workspace, path.session, query.turn),
            tag("h2", "The case as it will be written", class_="golden"),
            tag(
                "p",
                f"id {case.id} · review draft · {' · '.join(lineage)}",
                class_="quiet",
                dir="auto",
            ),
            session_turns(case.turns, path.session, golden=True),
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
    names = dataset_names(workspace)
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
    raw = address("live", path.session, tab="raw")
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
                    agents_pair(turn.expected, turn.actual),
                    [call_pair(step, (), raw=raw) for step in turn.script or ()],
                    response_pair(
                        turn.expected.response if turn.expected else None,
                        turn.actual.response if turn.actual else None,
                        missing_turn=turn.actual is None,
                        extra_turn=turn.expected is None,
                        raw=raw,
                    ),
                    class_="turn",
                )
                for turn in align_turns(pair.case, trace)
            ],
        ]
    return Page(
        title=f"Compare {path.session}",
        section="Live",
        crumbs=session_crumbs(path.session, "Compare"),
        content=content,
    )


def _golden_form(workspace: Workspace, session: str, turn: int | None) -> Markup:
    names = dataset_names(workspace)
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


def _same_start(workspace: Workspace, session: str, case: Case) -> Markup | None:
    """Name the cases that the new one would be mistaken for."""
    same = find_same_start(workspace.folder, case)
    if not same:
        return None
    items = [
        tag(
            "li",
            tag("a", id, href=address("datasets", name, "cases", id), dir="auto"),
            f" of {name} begins with the same message. ",
            tag("a", "Compare with it", href=address("live", session, "compare", dataset=name)),
        )
        for name, id in same[:_MAX_SAME]
    ]
    left = len(same) - _MAX_SAME
    text = (
        "Sessions that name no case are matched by their first message. With two cases of a "
        "dataset that begin alike, they match neither."
    )
    return join(
        [
            tag("h2", f"Look at this first: {count(len(same), 'case')} like it"),
            tag("ul", items, class_="problems"),
            tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None,
            tag("p", text, class_="note"),
        ]
    )
