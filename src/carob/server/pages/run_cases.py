"""The cases of a run: filters, rows, and the window over a large run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, get_args

import msgspec

from carob.api.views.run import CaseLine, RowsView, RunView, view_rows
from carob.api.views.run_index import CaseFilter, parse_cause
from carob.report.html.causes import cause_text
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import CaseResult, CaseScore, Run, Status
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
from carob.server.workspace import Workspace

pages = Pages()
_MAX_COLUMNS = 6
_MAX_REASON = 240
_EXPECTED = re.compile(
    r"(?:(?P<at>.*?): )?expected (?P<want>.*?), got (?P<got>.*?)(?:; [^;]*?: expected .*)?",
    re.DOTALL,
)
"""One difference, and others after it that are left out."""
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
        cause = None if self.cause is None else parse_cause(self.cause)
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

    def options(self) -> tuple[str, ...]:
        """Return the options of `carob report` that select the same."""
        named = self.parameters()
        named["text"] = named.pop("q")
        return tuple(f"--{name}={value}" for name, value in named.items() if value)


class RowsPath(Query, frozen=True):
    """A run."""

    run: str


class RowsQuery(CaseListQuery, frozen=True, kw_only=True):
    """Some rows of the table of cases."""

    start: Annotated[int, msgspec.Meta(ge=0)] = 0


@pages.get("/runs/{run}/rows")
def show_rows(workspace: Workspace, path: RowsPath, query: RowsQuery) -> Fragment:
    """Return some rows of the table of cases."""
    view = _read_chunk(workspace, path.run, query, query.start)
    columns = _columns(view.run)
    return Fragment([_row(view.run, line, columns, query) for line in view.lines])


def cases_window(workspace: Workspace, run: str, query: CaseListQuery) -> RowsView:
    """Return the first rows of a window over the cases that a filter selects."""
    return _read_chunk(workspace, run, query, 0)


def _read_chunk(workspace: Workspace, run: str, query: CaseListQuery, start: int) -> RowsView:
    return view_rows(
        run,
        query.to_filter(),
        start=start,
        limit=CHUNK,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )


def cases_section(
    view: RunView, query: CaseListQuery, actions: Markup, *, by: str | None = None
) -> Markup:
    """Return the filters and the cases that they select, in a form with what can be done with
    some of them. `by` is what the page is broken down by besides."""
    rows = RowsView(view.run, view.lines, view.matched)
    return tag(
        "section",
        tag("h2", "Cases"),
        _filters(view.run, query, by),
        cases_region(
            rows,
            query,
            actions,
            windowed=view.pages > 1 and view.page == 1,
            links=_page_links(view, query),
        ),
    )


def cases_region(
    view: RowsView,
    query: CaseListQuery,
    actions: Markup,
    *,
    windowed: bool,
    links: Markup | None = None,
) -> Markup:
    """Return the cases that a filter selects, in a form. If `windowed`, scripts load the rows that
    are not here."""
    run = view.run
    columns = _columns(run)
    table = rows_table(
        "Cases",
        _head(columns, complete=len(view.lines) == view.matched),
        [_row(run, line, columns, query) for line in view.lines],
        "list cases",
        total=view.matched,
        source=address("runs", run.id, "rows", **query.parameters()) if windowed else None,
    )
    summary = _summary(view, query)
    everything = tag("a", "Show all", href=address("runs", run.id))
    form = tag(
        "form",
        _hidden_fields(query),
        tag("div", actions, summary, class_="toolbar"),
        table,
        method="post",
        action=address("runs", run.id, "selected"),
        data_selection="stored",
    )
    nothing = [summary, tag("p", "No case matches. ", everything)]
    return tag("div", form if view.lines else nothing, links, id="cases")


def _head(columns: Sequence[str], *, complete: bool) -> list[Child]:
    # Of a window, only the rows near the screen could be selected at once.
    every = tag("input", type="checkbox", data_all="place") if complete else None
    return [
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


def _summary(view: RowsView, query: CaseListQuery) -> Markup:
    """Say how many rows there are, and in which order."""
    run = view.run
    shown = f"{view.matched:,} of {count(run.summary.cases.total, 'case')}"
    order = "worst first" if query.sort == "worst" else "in the order of the dataset"
    other = "dataset" if query.sort == "worst" else None
    sort = address("runs", run.id, **{**query.parameters(), "sort": other})
    return tag(
        "p",
        _chips(run, query),
        tag("span", shown, role="status"),
        f", {order}",
        tag(
            "span",
            " · ",
            tag(
                "a", f"sort {'by dataset' if other else 'worst first'}", href=sort, data_sets="sort"
            ),
            class_="around",
        ),
        class_="quiet",
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


def _filters(run: Run, query: CaseListQuery, by: str | None) -> Markup:
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
    hidden = {"cause": query.cause, "sort": sort, "by": by}
    source = address("runs", run.id, "table")
    return filter_form(address("runs", run.id), fields, hidden, region="cases", source=source)


def _chips(run: Run, query: CaseListQuery) -> Child:
    if not query.cause:
        return None
    link = address("runs", run.id, **{**query.parameters(), "cause": None})
    words = cause_text(parse_cause(query.cause))
    return [tag("a", words, " ×", href=link, class_="chip on", data_sets="cause"), " "]


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
    if both := _EXPECTED.fullmatch(reason.partition("\n")[0]):
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
