"""One case of a run: the expectation beside what the agent did, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from carob.api.golden.accept import AcceptedLine, accept_changes
from carob.api.views.case import CaseView, view_case
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import CaseScore
from carob.server.binding import Query
from carob.server.pages.case_turns import turn_links, turn_list
from carob.server.pages.conversation import call_pair, plain_call
from carob.server.pages.edit_script import count_changes, script_form
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import (
    address,
    limit,
    link_button,
    rows_table,
    score,
    sign,
    stamp,
    strip,
)
from carob.server.pages.run import run_crumbs
from carob.server.pages.run_cases import CaseListQuery
from carob.server.pages.spans import trace_spans
from carob.server.pages.texts import MAX_VALUE, fold_text, json_text, value_text
from carob.server.paths import CasePath
from carob.server.workspace import Workspace

pages = Pages()
Tab = Literal["conversation", "spans", "scores", "golden", "raw"]
_TABS: dict[Tab, str] = {
    "conversation": "Conversation",
    "spans": "Spans",
    "scores": "Scores",
    "golden": "Golden",
    "raw": "Raw",
}
_GOOD = ("passed", "info")
_MAX_SCORES = 8


class CasePageQuery(CaseListQuery, frozen=True, kw_only=True):
    """What of the case to show, and among which cases it stands."""

    turn: Annotated[int, msgspec.Meta(ge=1)] | None = None
    attempt: Annotated[int, msgspec.Meta(ge=1)] = 1
    tab: Tab = "conversation"


class AcceptForm(Query, frozen=True):
    """The lines of the edit script that are accepted."""

    attempt: int = 1
    line: tuple[str, ...] = ()


@pages.get("/runs/{run}/cases/{case:path}")
def show_case(workspace: Workspace, path: CasePath, query: CasePageQuery) -> Page:
    """Show a case of a run."""
    filtered = any(query.parameters().values())
    view = view_case(
        path.run,
        path.case,
        attempt=query.attempt,
        wanted=query.to_filter() if filtered else None,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    back = address("runs", view.run.id, **query.parameters())
    return Page(
        title=f"{path.case} in {view.run.id}",
        section="Runs",
        crumbs=(*run_crumbs(view.run, link=back), (path.case, "")),
        content=[
            _headline(view, path.case, query),
            _attempts(view, path.case, query),
            _tabs(view, path.case, query),
            _tab(view, query),
        ],
        command=_command(workspace, view, path.case, query.tab),
        keys=(
            ("[ ]", "previous, next case"),
            ("t", "next tab"),
            ("a", "accept"),
            ("r", "regression case"),
            ("z", "fold"),
        ),
    )


def _command(workspace: Workspace, view: CaseView, case: str, tab: Tab) -> tuple[str, ...] | None:
    """Return the command that prints what a tab shows; there is none for spans."""
    if tab == "spans" or (tab == "golden" and view.golden is None):
        return None
    if tab == "golden" and view.run.dataset:
        return ("review", workspace.golden_file(view.run.dataset.name), "--", case)
    form = ("--format=json",) if tab == "raw" else ()
    return ("report", view.run.id, f"--case={case}", *form, *workspace.store_arguments)


@pages.post("/runs/{run}/cases/{case:path}/accept")
def accept_case(workspace: Workspace, path: CasePath, form: AcceptForm) -> Redirect:
    """Expect what the agent did, in the lines that are checked."""
    lines = [AcceptedLine.parse(text) for text in form.line]
    accept_changes(
        path.run,
        path.case,
        lines,
        attempt=form.attempt,
        folder=workspace.folder,
        store=workspace.store,
    )
    view = view_case(path.run, path.case, store=workspace.store)
    name = view.run.dataset.name if view.run.dataset else ""
    return Redirect(address("datasets", name, accepted=path.case))


def _tab(view: CaseView, query: CasePageQuery) -> Markup:
    match query.tab:
        case "conversation":
            return _conversation(view, query)
        case "spans":
            return trace_spans(view)
        case "scores":
            return _scores(view)
        case "golden":
            return _golden(view)
        case "raw":
            return _raw(view)


def _headline(view: CaseView, case: str, query: CasePageQuery) -> Markup:
    line = view.attempts[view.attempt - 1]
    around = view.neighbours
    cases = "case" if around.total == 1 else "cases"
    good = line.result.status in _GOOD
    among = cases if good else f"{cases} that did not pass"
    if any(query.parameters().values()):
        among = "in this filter"

    def neighbour(name: str | None, label: str, rel: str) -> Markup | None:
        link = address("runs", view.run.id, "cases", name or "", **query.parameters())
        return tag("a", label, href=link, rel=rel) if name is not None else None

    place = f"{around.position:,} of" if around.position else "not one of"
    links = [
        neighbour(around.previous, "‹ previous", "prev"),
        tag("span", f" {place} {around.total:,} {among} "),
        neighbour(around.next, "next ›", "next"),
    ]
    return tag(
        "div",
        tag(
            "div",
            tag("h1", stamp(line.result.status), " ", tag("bdi", case)),
            _scores_line(view, case, query),
        ),
        tag(
            "div",
            tag("span", links, class_="quiet around"),
            _accept_link(view, case, query),
            _capture_button(view, case),
            class_="actions",
        ),
        class_="top",
    )


def _accept_link(view: CaseView, case: str, query: CasePageQuery) -> Markup | None:
    """Return the way to the edit script, which is below the whole conversation."""
    changes = count_changes(view)
    if not changes:
        return None
    script = f"{_own(view, case, query, tab=None)}#script"
    return link_button(f"Accept {count(changes, 'change')}…", script, gold=True, writes=True)


def _capture_button(view: CaseView, case: str) -> Markup | None:
    if view.run.dataset is None or view.attempts[view.attempt - 1].result.status in _GOOD:
        return None
    attempt = None if view.attempt == 1 else view.attempt
    where = address("runs", view.run.id, "regression", case=case, attempt=attempt)
    return link_button("Capture as a regression case…", where, key="r", writes=True)


def _scores_line(view: CaseView, case: str, query: CasePageQuery) -> Markup:
    """Return the scores, those that did not pass first; of many metrics only some."""
    scored = [
        item for item in view.attempts[view.attempt - 1].result.scores if item.status != "unscored"
    ]
    scored.sort(key=lambda item: item.status in _GOOD)
    shown = [_short_score(item) for item in scored[:_MAX_SCORES]]
    if len(scored) > _MAX_SCORES:
        text = f"and {len(scored) - _MAX_SCORES:,} more"
        shown.append(tag("a", text, href=_own(view, case, query, tab="scores")))
    if recent := strip(view.attempts[view.attempt - 1].recent):
        shown.append(tag("span", "last runs ", recent, class_="quiet"))
    return tag("p", shown, class_="lead scores")


def _short_score(item: CaseScore) -> Markup:
    needs = "" if item.threshold is None else f" (needs {limit(item.threshold)})"
    return tag(
        "span", sign(item.status), " ", breakable(item.metric), f" {score(item.value)}{needs}"
    )


def _own(view: CaseView, case: str, query: CasePageQuery, **changes: str | int | None) -> str:
    """Return the address of this page with other parameters."""
    own: dict[str, str | int | None] = {
        "tab": None if query.tab == "conversation" else query.tab,
        "attempt": None if view.attempt == 1 else view.attempt,
    }
    return address("runs", view.run.id, "cases", case, **{**query.parameters(), **own, **changes})


def _attempts(view: CaseView, case: str, query: CasePageQuery) -> Markup | None:
    if len(view.attempts) == 1:
        return None
    links = [
        tag(
            "a",
            f"{number} ",
            sign(line.result.status),
            href=_own(view, case, query, attempt=number),
            aria_current="true" if number == view.attempt else None,
        )
        for number, line in enumerate(view.attempts, 1)
    ]
    return tag("nav", tag("span", "Attempts"), links, class_="pages", aria_label="Attempts")


def _tabs(view: CaseView, case: str, query: CasePageQuery) -> Markup:
    links = [
        tag(
            "a",
            name,
            href=_own(view, case, query, tab=None if tab == "conversation" else tab),
            aria_current="page" if tab == query.tab else None,
        )
        for tab, name in _TABS.items()
    ]
    return tag("nav", links, class_="tabs", aria_label="Views of this case")


def _conversation(view: CaseView, query: CasePageQuery) -> Markup:
    result = view.attempts[view.attempt - 1].result
    notes = list(_notes(view))
    if not view.turns:
        text = "Runs keep the conversation of cases that did not pass, and all with --keep-traces."
        return join([notes, tag("p", text, class_="quiet")])
    version = view.run.dataset.version if view.run.dataset else None
    head = tag(
        "div",
        tag("h2", f"Expected{f' · golden {version}' if version else ''}", class_="golden"),
        tag(
            "h2",
            "Actual · trace ",
            tag("code", result.trace or "none", dir="auto"),
            tag("span", _usage(view), class_="facts"),
        ),
        class_="pair head",
    )
    return tag(
        "section",
        notes,
        turn_links(view) if len(view.turns) > 1 else None,
        head,
        turn_list(view, query.turn),
        _case_calls(view),
        script_form(view, result.case or "") if view.golden else None,
        aria_label="Conversation",
    )


def _notes(view: CaseView) -> Iterator[Markup]:
    if view.golden is None and view.run.dataset:
        text = (
            "This golden case is not in the server's folder, or has changed since the run: "
            "tool calls that were expected are named in the scores only."
        )
        yield tag("p", text, class_="note")
    if view.trace is None:
        text = "The trace was not saved with this run; carob run --keep-traces saves tool calls."
        yield tag("p", text, class_="note")


def _usage(view: CaseView) -> str:
    trace = view.trace
    if trace is None:
        return ""
    tokens = trace.usage.total_tokens
    parts = [
        f"{trace.duration_ms / 1000:.1f} s" if trace.duration_ms is not None else None,
        f"{tokens:,} tokens" if tokens is not None else None,
    ]
    return " · ".join(part for part in parts if part)


def _case_calls(view: CaseView) -> Markup | None:
    golden = view.golden
    if golden is None or golden.tool_calls is None:
        return None
    title = tag("h2", "Tool calls of the whole conversation")
    if view.script is not None:
        return tag("section", title, [call_pair(step, ()) for step in view.script])
    return tag("section", title, [plain_call(call) for call in golden.tool_calls])


def _scores(view: CaseView) -> Markup:
    result = view.attempts[view.attempt - 1].result
    rows = [
        tag(
            "tr",
            tag("td", stamp(item.status)),
            tag("th", breakable(item.metric), scope="row"),
            tag("td", score(item.value), class_="n"),
            tag("td", limit(item.threshold), class_="n"),
            tag("td", fold_text(item.reason), _score_details(item), class_="wrap", dir="auto"),
        )
        for item in result.scores
    ]
    judgement = result.judgement
    said = judgement and tag("p", tag("strong", judgement.profile), ": ", judgement.reason)
    by = result.paired_by
    facts = [
        f"paired {by}" if by.startswith("by ") else by,
        f"read by {result.mapper}" if result.mapper else "",
    ]
    head: list[Child] = ["status", "metric", "#value", "#needs", "reason"]
    return tag(
        "section",
        tag("h2", count(len(rows), "score")),
        tag("p", " · ".join(filter(None, facts)), class_="quiet"),
        said,
        rows_table("Scores", head, rows),
    )


def _score_details(item: CaseScore) -> list[Markup | None]:
    """Return the score of each turn, and what else the metric has found out."""
    turns = " · ".join(score(value) for value in item.turns)
    details = [
        tag("div", tag("code", name), " ", fold_text(value_text(value), MAX_VALUE))
        for name, value in item.details.items()
    ]
    return [
        tag("small", f"turn by turn: {turns}") if len(item.turns) > 1 else None,
        tag("details", tag("summary", count(len(details), "detail")), details) if details else None,
    ]


def _golden(view: CaseView) -> Markup:
    if view.golden is None or view.run.dataset is None:
        return join(_notes(view))
    document = msgspec.structs.replace(view.golden, origin=None, recorded=None)
    edit = address("datasets", view.run.dataset.name, "cases", view.golden.id, "edit")
    history = address("datasets", view.run.dataset.name, "cases", view.golden.id)
    links = [tag("a", "Edit", href=edit), " · ", tag("a", "Past runs", href=history)]
    return tag("section", tag("h2", "Golden case"), tag("p", links), json_text(document))


def _raw(view: CaseView) -> Markup:
    result = view.attempts[view.attempt - 1].result
    trace = view.trace and msgspec.structs.replace(view.trace, spans=())
    return tag(
        "section",
        tag("h2", "Result"),
        json_text(result),
        [tag("h2", "Trace"), json_text(trace)] if trace else None,
    )
