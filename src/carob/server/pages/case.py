"""One case of a run: the expectation beside what the agent did, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from carob.api.case_view import CaseView, TurnView, view_case
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import CaseScore, ToolCall, Turn
from carob.server.binding import Query
from carob.server.pages.conversation import call_pair, plain_turn, response_pair
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import address, rows_table, score, sign, stamp, strip, value_text
from carob.server.pages.run import run_crumbs
from carob.server.pages.spans import waterfall
from carob.server.workspace import Workspace

pages = Pages()
_TABS = {"conversation": "Conversation", "spans": "Spans", "scores": "Scores", "golden": "Golden"}
_FEW_TURNS = 30
"""In longer conversations, turns that are as expected are folded."""


class CasePath(Query, frozen=True):
    """A case of a run."""

    run: str
    case: str


class CaseQuery(Query, frozen=True):
    """What of the case to show."""

    attempt: Annotated[int, msgspec.Meta(ge=1)] = 1
    tab: Literal["conversation", "spans", "scores", "golden"] = "conversation"


@pages.get("/runs/{run}/cases/{case:path}")
def show_case(workspace: Workspace, path: CasePath, query: CaseQuery) -> Page:
    """Show a case of a run."""
    view = view_case(
        path.run,
        path.case,
        attempt=query.attempt,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    content: dict[str, Child] = {"conversation": None, "spans": None}
    match query.tab:
        case "conversation":
            content = {"tab": _conversation(view)}
        case "spans":
            content = {"tab": waterfall(view.trace)}
        case "scores":
            content = {"tab": _scores(view)}
        case "golden":
            content = {"tab": _golden(view)}
    return Page(
        title=f"{path.case} in {view.run.id}",
        section="Runs",
        crumbs=(*run_crumbs(view.run, link=True), (path.case, "")),
        content=[
            _headline(view, path.case),
            _attempts(view, path.case, query),
            _tabs(view, path.case, query),
            *content.values(),
        ],
        command=f"carob report {view.run.id}",
        keys=(("[ ]", "previous, next case"), ("t", "next tab")),
    )


def _headline(view: CaseView, case: str) -> Markup:
    line = view.attempts[view.attempt - 1]
    place, total = view.position
    among = "all cases" if line.result.status in ("passed", "info") else "cases that did not pass"
    around = [
        tag("a", "‹ previous", href=_address(view, view.previous), rel="prev")
        if view.previous is not None
        else None,
        tag("span", f" {place:,} of {total:,} {among} "),
        tag("a", "next ›", href=_address(view, view.next), rel="next")
        if view.next is not None
        else None,
    ]
    scores = [_short_score(item) for item in line.result.scores if item.status != "unscored"]
    recent = strip(line.recent)
    return join(
        [
            tag("p", around, class_="quiet"),
            tag("h1", stamp(line.result.status), " ", tag("span", case, dir="auto")),
            tag("p", scores, class_="lead scores"),
            tag("p", "Last runs: ", recent, class_="quiet") if recent else None,
        ]
    )


def _address(view: CaseView, case: str | None) -> str:
    return address("runs", view.run.id, "cases", case or "")


def _short_score(item: CaseScore) -> Markup:
    needs = "" if item.threshold is None else f" (needs {item.threshold:g})"
    return tag(
        "span", sign(item.status), " ", breakable(item.metric), f" {score(item.value)}{needs}"
    )


def _attempts(view: CaseView, case: str, query: CaseQuery) -> Markup | None:
    if len(view.attempts) == 1:
        return None
    links = [
        tag(
            "a",
            f"{number} ",
            sign(line.result.status),
            href=address("runs", view.run.id, "cases", case, attempt=number, tab=query.tab),
            aria_current="true" if number == view.attempt else None,
        )
        for number, line in enumerate(view.attempts, 1)
    ]
    return tag("nav", "Attempts: ", links, class_="pages", aria_label="Attempts")


def _tabs(view: CaseView, case: str, query: CaseQuery) -> Markup:
    links = [
        tag(
            "a",
            name,
            href=address(
                "runs",
                view.run.id,
                "cases",
                case,
                tab=None if tab == "conversation" else tab,
                attempt=None if view.attempt == 1 else view.attempt,
            ),
            aria_current="page" if tab == query.tab else None,
        )
        for tab, name in _TABS.items()
    ]
    return tag("nav", links, class_="tabs", aria_label="Views of this case")


def _conversation(view: CaseView) -> Markup:
    result = view.attempts[view.attempt - 1].result
    notes = list(_notes(view))
    if not view.turns:
        kept = "Runs keep the conversation of cases that did not pass, and all with --keep-traces."
        return join([notes, tag("p", kept, class_="quiet")])
    version = view.run.dataset.version if view.run.dataset else None
    head = tag(
        "div",
        tag("h2", f"Expected{f' · golden {version}' if version else ''}", class_="golden"),
        tag("h2", f"Actual · trace {result.trace or 'none'}{_usage(view)}"),
        class_="pair head",
    )
    fold = len(view.turns) > _FEW_TURNS
    turns = [_turn(number, turn, fold) for number, turn in enumerate(view.turns, 1)]
    return tag("section", notes, head, turns, _case_calls(view), aria_label="Conversation")


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
    return "".join(f" · {part}" for part in parts if part)


def _turn(number: int, turn: TurnView, fold: bool) -> Markup:
    differs = _differs(turn)
    user = (turn.expected or turn.actual or Turn()).user
    title = tag(
        "h3",
        f"Turn {number} ",
        sign("failed" if differs else "passed"),
        id=f"turn-{number}",
    )
    said = tag("div", plain_turn("user", user), class_="user")
    body = [said, _calls(turn), _responses(turn)]
    if fold and not differs:
        summary = tag("summary", f"Turn {number}: ", (user or "(not recorded)")[:120])
        return tag("details", summary, body, class_="turn")
    return tag("article", title, body, class_="turn")


def _differs(turn: TurnView) -> bool:
    if turn.script is not None and any(step.kind != "keep" for step in turn.script):
        return True
    if turn.expected is None or turn.actual is None:
        return True
    expected = turn.expected.response
    return expected is not None and expected != turn.actual.response


def _calls(turn: TurnView) -> Child:
    if turn.script is not None:
        return [call_pair(step) for step in turn.script]
    expected = turn.expected.tool_calls if turn.expected else None
    actual = turn.actual.tool_calls if turn.actual else None
    if not expected and not actual:
        return None
    return tag(
        "div",
        tag("div", [_call_text(call) for call in expected or ()]),
        tag("div", [_call_text(call) for call in actual or ()]),
        class_="pair",
    )


def _call_text(call: ToolCall) -> Markup:
    args = "" if call.args is None else value_text(call.args)
    return tag("p", tag("strong", call.name), " ", args, class_="call mono", dir="auto")


def _responses(turn: TurnView) -> Markup:
    expected = turn.expected.response if turn.expected else None
    actual = turn.actual.response if turn.actual else None
    return response_pair(
        expected,
        actual,
        missing_turn=turn.actual is None,
        extra_turn=turn.expected is None,
    )


def _case_calls(view: CaseView) -> Markup | None:
    golden = view.golden
    if golden is None or not golden.tool_calls:
        return None
    calls = [_call_text(call) for call in golden.tool_calls]
    return tag("section", tag("h2", "Expected in the whole conversation"), calls)


def _scores(view: CaseView) -> Markup:
    result = view.attempts[view.attempt - 1].result
    rows = [
        tag(
            "tr",
            tag("td", stamp(item.status)),
            tag("th", breakable(item.metric), scope="row"),
            tag("td", score(item.value), class_="n"),
            tag("td", "" if item.threshold is None else f"{item.threshold:g}", class_="n"),
            tag("td", item.reason, class_="wrap", dir="auto"),
        )
        for item in result.scores
    ]
    judgement = result.judgement
    said = judgement and tag("p", tag("strong", judgement.profile), ": ", judgement.reason)
    facts = [f"paired by {result.paired_by}" if result.paired_by else "", result.mapper or ""]
    head: list[Child] = ["status", "metric", "#value", "#needs", "reason"]
    return tag(
        "section",
        tag("h2", count(len(rows), "score")),
        tag("p", " · ".join(filter(None, facts)), class_="quiet"),
        said,
        rows_table("Scores", head, rows),
    )


def _golden(view: CaseView) -> Markup:
    if view.golden is None:
        return join(_notes(view))
    document = msgspec.structs.replace(view.golden, origin=None, recorded=None)
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    return tag("section", tag("h2", "Golden case"), tag("pre", tag("code", text), tabindex="0"))
