"""The cases of a run: filters, rows, and the window over a large run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, get_args

import msgspec

from carob.api.run_view import CaseFilter, CaseLine, RunView, view_rows
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import CaseResult, CaseScore, Run, Status
from carob.schema.causes import Cause, CauseKind
from carob.server.binding import Query
from carob.server.pages.page import Fragment, Pages
from carob.server.pages.parts import (
    CHUNK,
    address,
    choice,
    filter_form,
    rows_table,
    score,
    sign,
    strip,
    text_field,
)
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_MAX_COLUMNS = 6
_MAX_REASON = 240
_EXPECTED = re.compile(r"(?:(?P<at>.*?): )?expected (?P<want>.*?), got (?P<got>.*)", re.DOTALL)
_STEP = re.compile(r"(?P<kind>missing|unexpected) (?P<call>[^\s(]+(?:\(.*?\))?)(?=;|$)", re.DOTALL)


class CaseListQuery(Query, frozen=True, kw_only=True):
    """Which cases of a run to show, and in which order."""

    status: Status | None = None
    metric: str | None = None
    tag: str | None = None
    cause: str | None = None
    """As `KIND:SUBJECT`."""
    q: str = ""
    sort: Literal["worst", "dataset"] = "worst"

    def to_filter(self) -> CaseFilter:
        """Return the filter that this asks for."""
        cause = parse_cause(self.cause)
        return CaseFilter(self.status, self.metric, cause, self.q, self.sort, self.tag)

    def parameters(self) -> dict[str, str | None]:
        """Return what of it belongs into an address."""
        return {
            "status": self.status,
            "metric": self.metric,
            "tag": self.tag,
            "cause": self.cause,
            "q": self.q or None,
            "sort": None if self.sort == "worst" else self.sort,
        }


class RowsPath(Query, frozen=True):
    """A run."""

    run: str


class RowsQuery(CaseListQuery, frozen=True, kw_only=True):
    """Some rows of the table of cases."""

    start: Annotated[int, msgspec.Meta(ge=0)] = 0


@pages.get("/runs/{run}/rows")
def show_rows(workspace: Workspace, path: RowsPath, query: RowsQuery) -> Fragment:
    """Return some rows of the table of cases."""
    run, lines = view_rows(
        path.run,
        query.to_filter(),
        start=query.start,
        limit=CHUNK,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    return Fragment([_row(run, line, _columns(run), query) for line in lines])


def parse_cause(text: str | None) -> Cause | None:
    """Read a cause from an address."""
    if text is None:
        return None
    kind, _, subject = text.partition(":")
    try:
        return Cause(msgspec.convert(kind, CauseKind), subject)
    except msgspec.ValidationError as error:
        hint = f"expected one of: {', '.join(get_args(CauseKind))}"
        raise RequestError(400, f"unknown cause {kind!r}", hint=hint) from error


def cases_section(view: RunView, query: CaseListQuery, actions: Markup) -> Markup:
    """Return the filters and the cases that they select, in a form with what can be done with
    some of them."""
    run = view.run
    shown = f"{view.matched:,} of {count(run.summary.cases.total, 'case')}"
    order = "worst first" if query.sort == "worst" else "in the order of the dataset"
    other = "dataset" if query.sort == "worst" else None
    sort = address("runs", run.id, **{**query.parameters(), "sort": other})
    source = address("runs", run.id, "rows", **query.parameters())
    columns = _columns(run)
    # Of a window, only the rows near the screen could be selected at once.
    every = tag("input", type="checkbox", data_all="place") if view.pages == 1 else None
    head: list[Child] = [
        tag("label", tag("span", "select all", class_="unseen"), every)
        if every
        else tag("span", "select", class_="unseen"),
        tag("span", "status", class_="unseen"),
        "case",
        "first difference",
        *(f"#{name}" for name in columns),
        "#turns",
        "last 10",
    ]
    table = rows_table(
        "Cases",
        head,
        [_row(run, line, columns, query) for line in view.lines],
        "list cases",
        total=view.matched,
        source=source if view.pages > 1 and view.page == 1 else None,
    )
    everything = tag("a", "Show all", href=address("runs", run.id))
    summary = tag(
        "p",
        _chips(run, query),
        tag("span", shown, role="status"),
        f", {order} · ",
        tag("a", f"sort {'by dataset' if other else 'worst first'}", href=sort),
        class_="quiet",
    )
    return tag(
        "section",
        tag("h2", "Cases"),
        _filters(run, query),
        tag(
            "div",
            tag(
                "form",
                _hidden_fields(query),
                tag("div", actions, summary, class_="toolbar"),
                table,
                method="post",
                action=address("runs", run.id, "selected"),
                data_selection="stored",
            )
            if view.lines
            else [summary, tag("p", "No case matches. ", everything)],
            _page_links(view, query),
            id="cases",
        ),
    )


def _hidden_fields(query: CaseListQuery) -> list[Markup]:
    """The filter, for a form that acts on all cases if none is selected."""
    return [
        tag("input", type="hidden", name=name, value=value)
        for name, value in query.parameters().items()
        if value
    ]


def _columns(run: Run) -> list[str]:
    """Return the metrics that have a column: of many, those that failed the most."""
    names = [use.name for use in run.metrics]
    if len(names) <= _MAX_COLUMNS:
        return names
    failed = {name: summary.failed for name, summary in run.summary.metrics.items()}
    chosen = sorted(names, key=lambda name: -failed.get(name, 0))[:_MAX_COLUMNS]
    return [name for name in names if name in chosen]


def _filters(run: Run, query: CaseListQuery) -> Markup:
    statuses = [(name, name) for name in get_args(Status)]
    metrics = [(use.name, use.name) for use in run.metrics]
    tags = [(group.value, group.value) for group in run.summary.groups if group.by == "tag"]
    fields = [
        choice("status", "status", statuses, query.status),
        choice("metric not passed", "metric", metrics, query.metric),
        choice("tag", "tag", tags, query.tag) if tags else join(None),
        text_field("text in conversations", "q", query.q),
    ]
    sort = query.parameters()["sort"]
    hidden = {"cause": query.cause, "sort": sort}
    return filter_form(address("runs", run.id), fields, hidden, region="cases")


def _chips(run: Run, query: CaseListQuery) -> Child:
    if not query.cause:
        return None
    link = address("runs", run.id, **{**query.parameters(), "cause": None})
    return [tag("a", f"{query.cause} ×", href=link, class_="chip on"), " "]


def _row(run: Run, line: CaseLine, columns: Sequence[str], query: CaseListQuery) -> Markup:
    result = line.result
    name = result.case if result.case is not None else result.trace or ""
    values = {item.metric: item for item in result.scores}
    link = address("runs", run.id, "cases", name, **query.parameters())
    box = tag(
        "input", type="checkbox", name="place", value=str(line.place), aria_label=f"select {name}"
    )
    return tag(
        "tr",
        tag("td", box, class_="box"),
        tag("td", sign(result.status) or tag("span", "info", class_="unseen")),
        tag("th", tag("a", name[:200] or "(no name)", href=link), scope="row", dir="auto"),
        tag("td", first_difference(result), class_="first", dir="auto"),
        (tag("td", _value(values.get(column)), class_="n") for column in columns),
        tag("td", str(len(result.exchanges)) if result.exchanges else "", class_="n"),
        tag("td", strip(line.recent)),
    )


def _value(item: CaseScore | None) -> Child:
    if item is None:
        return ""
    if item.value is None:
        return tag("span", "–", class_="quiet", title=item.reason[:200])
    return (
        tag("span", score(item.value), class_="failed")
        if item.status == "failed"
        else score(item.value)
    )


def first_difference(result: CaseResult) -> Child:
    """Return the first reason why a case did not pass, in one line."""
    reasons = [s.reason for s in result.scores if s.status in ("failed", "error") and s.reason]
    reasons += [s.reason for s in result.scores if s.could_not_be_scored and s.reason]
    if not reasons:
        return ""
    # A difference in a call or an argument says more than a share of words.
    clear = (reason for reason in reasons if _EXPECTED.match(reason) or _STEP.match(reason))
    return difference(next(clear, reasons[0]))


def difference(reason: str) -> Child:
    """Return the first step of a reason, expected and actual marked as on the page of the case."""
    if step := _STEP.match(reason):
        mark = "del" if step["kind"] == "missing" else "ins"
        return tag("code", tag(mark, step["call"][:_MAX_REASON]))
    if both := _EXPECTED.match(reason.partition("\n")[0]):
        want, got = both["want"][:_MAX_REASON], both["got"][:_MAX_REASON]
        place = f"{both['at'][-60:]}: " if both["at"] else ""
        if got.startswith(f"{want}, "):
            return tag("code", place, tag("ins", got[len(want) + 2 :]))
        missing = got == "no calls"
        actual = None if missing else [" ", tag("ins", got)]
        expected = None if want == "no calls" else tag("del", want)
        return tag("code", place, expected, actual)
    return reason[:_MAX_REASON]


def _page_links(view: RunView, query: CaseListQuery) -> Markup | None:
    if view.pages == 1:
        return None
    links: list[Child] = []
    for number in _page_numbers(view.page, view.pages):
        link = address("runs", view.run.id, **query.parameters(), page=number)
        current = "page" if number == view.page else None
        links += [tag("a", f"{number:,}", href=link, aria_current=current), " "]
    return tag("nav", links, class_="pages", aria_label="Pages of cases", data_numbers="1")


def _page_numbers(page: int, pages: int) -> Iterator[int]:
    near = {1, 2, page - 1, page, page + 1, pages - 1, pages}
    yield from sorted(number for number in near if 1 <= number <= pages)
