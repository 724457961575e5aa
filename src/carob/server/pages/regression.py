"""Capture a failure as a regression case: what will be written, then into the draft."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from carob.api.golden.folder import list_datasets
from carob.api.golden.regression_draft import (
    Regression,
    add_failed_session,
    add_regressions,
    preview_failed_case,
    preview_failed_session,
)
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Turn
from carob.server.binding import Query
from carob.server.pages.conversation import plain_call, plain_turn
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, dataset_choice
from carob.server.paths import RunPath, SessionPath
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
ADD_KEYS = (("enter", "add to the draft"), ("esc", "back"))


class FailedCaseQuery(Query, frozen=True):
    """A case of the run, and the dataset that the regression case is added to."""

    case: str
    attempt: Annotated[int, msgspec.Meta(ge=1)] = 1
    dataset: str | None = None


class FailedSessionQuery(Query, frozen=True):
    """The dataset, and the turn in which the agent went wrong if it is not to be found."""

    dataset: str | None = None
    turn: Annotated[int, msgspec.Meta(ge=1)] | None = None


@pages.get("/runs/{run}/regression")
def preview_case(workspace: Workspace, path: RunPath, query: FailedCaseQuery) -> Page:
    """Show the regression case that a failed case would become."""
    regression = _preview(workspace, path, query)
    case = address("runs", path.run, "cases", query.case, attempt=query.attempt)
    fields = {"case": query.case, "attempt": str(query.attempt)}
    return Page(
        title=f"Regression case of {query.case}",
        section="Runs",
        crumbs=(
            ("Runs", "/runs"),
            (path.run, address("runs", path.run)),
            (query.case, case),
            ("Regression case", ""),
        ),
        content=_content(workspace, regression, address("runs", path.run, "regression"), fields),
        command=capture_command(workspace, path.run, [query.case]),
        keys=ADD_KEYS if regression.duplicate is None else ADD_KEYS[1:],
    )


@pages.post("/runs/{run}/regression")
def add_case(workspace: Workspace, path: RunPath, form: FailedCaseQuery) -> Redirect:
    """Add the regression case of a failed case to the draft."""
    regression = _preview(workspace, path, form)
    add_regressions(workspace.folder, [regression])
    return Redirect(address("datasets", regression.dataset, accepted=regression.case.id))


def _preview(workspace: Workspace, path: RunPath, query: FailedCaseQuery) -> Regression:
    return preview_failed_case(
        workspace.folder,
        path.run,
        query.case,
        attempt=query.attempt,
        dataset=query.dataset,
        store=workspace.store,
    )


@pages.get("/live/{session:path}/regression")
def preview_session(workspace: Workspace, path: SessionPath, query: FailedSessionQuery) -> Page:
    """Show the regression case that a session would become."""
    dataset = query.dataset or next(iter(dataset_names(workspace)), None)
    if dataset is None:
        raise RequestError(409, "there is no dataset yet", hint="make a session golden first")
    regression = preview_failed_session(
        workspace.folder, path.session, dataset, turn=query.turn, store=workspace.store
    )
    action = address("live", path.session, "regression")
    return Page(
        title=f"Regression case of {path.session}",
        section="Live",
        crumbs=(
            ("Live", "/live"),
            (path.session, address("live", path.session)),
            ("Regression case", ""),
        ),
        content=_content(workspace, regression, action, {}, chosen=query.turn),
        keys=ADD_KEYS if regression.duplicate is None else ADD_KEYS[1:],
    )


@pages.post("/live/{session:path}/regression")
def add_session(workspace: Workspace, path: SessionPath, form: FailedSessionQuery) -> Redirect:
    """Add the regression case of a session to the draft."""
    if form.dataset is None:
        raise RequestError(422, "no dataset is chosen")
    added = add_failed_session(
        workspace.folder, path.session, form.dataset, turn=form.turn, store=workspace.store
    )
    return Redirect(address("datasets", form.dataset, accepted=added.case.id))


def capture_command(workspace: Workspace, run: str, cases: Iterable[str]) -> tuple[str, ...]:
    """Return the command that writes the regression cases to a file."""
    failed = tuple(f"--case={case}" for case in cases)
    return ("capture", "--failed", run, *failed, "regressions.json", *workspace.store_arguments)


def dataset_names(workspace: Workspace) -> list[str]:
    """Return the datasets that cases can be added to."""
    return [entry.name for entry in list_datasets(workspace.folder) if entry.file]


def _content(
    workspace: Workspace,
    regression: Regression,
    action: str,
    fields: dict[str, str],
    *,
    chosen: int | None = None,
) -> list[Child]:
    case, name = regression.case, regression.dataset
    hidden = [tag("input", type="hidden", name=key, value=value) for key, value in fields.items()]
    lineage = [f"{key} {value}" for key, value in case.metadata.items()]
    return [
        tag("h1", "Capture as a regression case"),
        tag("p", _explain(regression), class_="lead", dir="auto"),
        _choices(workspace, regression, action, hidden, chosen),
        _duplicate(regression)
        if regression.duplicate is not None
        else tag(
            "form",
            hidden,
            tag("input", type="hidden", name="dataset", value=name),
            tag("input", type="hidden", name="turn", value=str(chosen)) if chosen else None,
            tag(
                "p",
                tag(
                    "button",
                    f"Add to the draft of {name}",
                    type="submit",
                    class_="gold",
                    autofocus=True,
                ),
                " ",
                tag("span", "It waits there for review.", class_="quiet"),
            ),
            method="post",
            action=action,
        ),
        tag("h2", "The case as it will be written", class_="golden"),
        tag("p", " · ".join([f"id {case.id}", *lineage]), class_="quiet", dir="auto"),
        [_turn(number, turn) for number, turn in enumerate(case.turns, 1)],
    ]


def _explain(regression: Regression) -> str:
    last = regression.divergence.turn + 1
    what = regression.divergence.what
    if what == "chosen":
        where = f"You chose turn {last} as the one that went wrong"
    elif what == "not located":
        where = "No turn is known to differ"
    else:
        where = f"The agent first went wrong in turn {last}: {what}"
    kept = len(regression.case.turns)
    cut = (
        f", so that {kept:,} of {count(regression.turns, 'turn')} are kept"
        if kept < regression.turns
        else ""
    )
    expected = (
        f" What is expected comes from the golden case {regression.parent.id}."
        if regression.parent
        else " No golden case matches: say in the editor what should have happened."
    )
    masked = " Personal data and secrets are masked." if regression.is_masked else ""
    return f"{where}{cut}.{expected}{masked}"


def _choices(
    workspace: Workspace,
    regression: Regression,
    action: str,
    hidden: list[Markup],
    chosen: int | None,
) -> Markup:
    """Return the form that shows the case for another dataset, or cut at another turn."""
    turn = None
    if not hidden:  # of a session; a run knows which turn failed
        options = [
            tag("option", f"turn {number}", value=str(number), selected=number == chosen)
            for number in range(1, regression.turns + 1)
        ]
        found = tag("option", "the first that differs", value="", selected=chosen is None)
        turn = tag(
            "label", tag("span", "went wrong in"), tag("select", [found, *options], name="turn")
        )
    return tag(
        "form",
        hidden,
        dataset_choice(dataset_names(workspace), regression.dataset),
        turn,
        tag("button", "Show", type="submit"),
        action=action,
        class_="filters",
    )


def _duplicate(regression: Regression) -> Markup:
    name = regression.duplicate or ""
    where = ("datasets", regression.dataset, "cases", name)
    return tag(
        "p",
        "Nothing to add: ",
        tag("a", name, href=address(*where), dir="auto"),
        f" of {regression.dataset} has the same messages and covers this failure. ",
        tag("a", "Edit it", href=address(*where, "edit")),
        class_="golden-edge",
    )


def _turn(number: int, turn: Turn) -> Markup:
    return tag(
        "article",
        tag("h3", f"Turn {number}"),
        plain_turn("user", turn.user),
        [plain_call(call) for call in turn.tool_calls or ()],
        plain_turn("expected", turn.response) if turn.response is not None else None,
        class_="turn",
    )
