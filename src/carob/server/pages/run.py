"""One run: the verdict as a sentence, why cases failed, then the cases."""

from __future__ import annotations

from typing import Annotated

import msgspec

from carob.api.views.run import RunView, view_run
from carob.report.charts import proportions
from carob.report.html.causes import cause_text
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import MetricSpec, MetricSummary, Run
from carob.schema.causes import CauseGroup
from carob.server.pages.page import Fragment, Page, Pages
from carob.server.pages.parts import (
    address,
    delta,
    limit,
    link_button,
    rows_table,
    score,
)
from carob.server.pages.run_cases import CaseListQuery, cases_region, cases_section, cases_window
from carob.server.pages.run_summary import (
    attempts_section,
    comparison_line,
    headline,
    run_facts,
)
from carob.server.pages.selection import selection_bar
from carob.server.paths import RunPath
from carob.server.workspace import Workspace

pages = Pages()
_MAX_CAUSES = 12
_MAX_METRICS = 12
_CLOSE = 5


class RunQuery(CaseListQuery, frozen=True, kw_only=True):
    """Which cases of the run to show, and a property to break results down by."""

    by: str | None = None
    page: Annotated[int, msgspec.Meta(ge=1)] = 1


@pages.get("/runs/{run}")
def show_run(workspace: Workspace, path: RunPath, query: RunQuery) -> Page:
    """Show a run."""
    view = view_run(
        path.run,
        query.to_filter(),
        page=query.page,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    run = view.run
    return Page(
        title=f"{run.verdict}: {run.dataset.name if run.dataset else run.id}",
        section="Runs",
        crumbs=run_crumbs(run),
        content=[
            tag(
                "div",
                tag("div", headline(run), comparison_line(view)),
                tag("div", _actions(view), class_="actions"),
                class_="top",
            ),
            proportions(run.summary.cases),
            run_facts(view),
            tag(
                "div", _causes(view, query), _metrics(view), attempts_section(run), class_="columns"
            ),
            _groups(run, query),
            cases_section(view, query, selection_bar(workspace, run, view.matched), by=query.by),
            _traces_without_case(run),
        ],
        command=_command(workspace, run, query),
        keys=(
            ("j k", "move"),
            ("enter", "open"),
            ("x", "select"),
            ("v", "run again"),
            ("r", "capture"),
            ("a", "accept"),
            ("f", "failed only"),
            ("c", "compare"),
            ("/", "search"),
        ),
    )


@pages.get("/runs/{run}/table")
def show_table(workspace: Workspace, path: RunPath, query: RunQuery) -> Fragment:
    """Return the cases that a filter selects, without the rest of the page."""
    view = cases_window(workspace, path.run, query)
    actions = selection_bar(workspace, view.run, view.matched)
    windowed = view.matched > len(view.lines)
    return Fragment(
        cases_region(view, query, actions, windowed=windowed),
        command=_command(workspace, view.run, query),
    )


def _command(workspace: Workspace, run: Run, query: RunQuery) -> tuple[str, ...]:
    by = (f"--by={query.by}",) if query.by else ()
    return ("report", run.id, *query.options(), *by, *workspace.store_arguments)


def run_crumbs(run: Run, *, link: str = "") -> tuple[tuple[str, str], ...]:
    """Return the way to a run."""
    dataset = ()
    if run.dataset:
        name = f"{run.dataset.name} {run.dataset.version or ''}".rstrip()
        dataset = ((name, address("runs", dataset=run.dataset.name)),)
    return (("Runs", "/runs"), *dataset, (run.id, link))


def _actions(view: RunView) -> list[Markup]:
    run, before = view.run, view.before
    base = address("compare", base=before.id if before else None, run=run.id)
    buttons = [link_button("Compare", base, key="c")]
    links = [
        tag("li", tag("a", form.upper(), href=f"/api/runs/{run.id}/report.{form}"))
        for form in ("html", "md", "csv", "json")
    ]
    menu = tag(
        "details", tag("summary", "Report ▾", class_="button"), tag("ul", links), class_="menu"
    )
    return [*buttons, menu]


def _causes(view: RunView, query: RunQuery) -> Markup:
    groups = view.causes
    if not groups:
        return tag("section", tag("h2", "Closest to failing"), _closest(view))
    rows = [_cause_row(view.run, group, query) for group in groups]
    left = len(groups) - _MAX_CAUSES
    return tag(
        "section",
        tag("h2", f"Why: {count(len(groups), 'cause')}"),
        rows_table("Causes", ["cause", "#cases"], rows[:_MAX_CAUSES]),
        tag(
            "details",
            tag("summary", f"{count(left, 'more cause')}"),
            rows_table("More causes", ["cause", "#cases"], rows[_MAX_CAUSES:]),
        )
        if left > 0
        else None,
    )


def _closest(view: RunView) -> Markup:
    """The passed cases that were closest to fail, since nothing failed."""
    margins = [
        (abs(item.value - item.threshold), line.result.case or "", item)
        for line in view.lines
        for item in line.result.scores
        if item.value is not None and item.threshold is not None
    ]
    total = view.run.summary.cases.total
    if not margins:
        return tag("p", f"Nothing failed in {count(total, 'case')}.")
    margins.sort(key=lambda entry: entry[:2])
    rows = [
        tag(
            "tr",
            tag(
                "th", tag("a", case, href=address("runs", view.run.id, "cases", case)), scope="row"
            ),
            tag("td", breakable(item.metric)),
            tag("td", f"{score(item.value)} (needs {limit(item.threshold)})", class_="n"),
        )
        for _, case, item in margins[:_CLOSE]
    ]
    head: list[Child] = ["case", "metric", "#value"]
    passed = f"All {total:,} passed" if total > 1 else "The only case passed"
    text = f"{passed}. These are the closest to their threshold."
    return join([tag("p", text, class_="quiet"), rows_table("Closest to fail", head, rows)])


def _cause_row(run: Run, group: CauseGroup, query: RunQuery) -> Markup:
    key = f"{group.cause.kind}:{group.cause.subject}"
    chosen = query.cause == key
    link = address("runs", run.id, **{**query.parameters(), "cause": None if chosen else key})
    return tag(
        "tr",
        tag(
            "th",
            tag(
                "a",
                cause_text(group.cause),
                href=link,
                aria_current="true" if chosen else None,
                data_sets="cause",
            ),
            scope="row",
        ),
        tag("td", f"{group.cases:,}", class_="n"),
        class_="chosen" if chosen else None,
    )


def _metrics(view: RunView) -> Markup:
    changes = {m.name: m for m in view.comparison.metrics} if view.comparison else {}
    head: list[Child] = ["metric", "#needs", "#mean", "#change", "#passed", "scores"]
    rows: list[Markup] = []
    failed = view.run.summary.metrics
    uses = list(view.run.metrics)
    if len(uses) > _MAX_METRICS:  # those that failed the most first, the others folded
        uses.sort(key=lambda use: -failed.get(use.name, MetricSummary()).failed)
    for use in uses:
        summary = view.run.summary.metrics.get(use.name, MetricSummary())
        compared = changes.get(use.name)
        difference = compared.difference.value if compared and compared.difference else None
        spark = _spark(view.histograms.get(use.name, ()))
        rows.append(_metric_row(use, summary, delta(difference, better=use.better), spark))
    left = len(rows) - _MAX_METRICS
    return tag(
        "section",
        tag("h2", "Metrics" if left <= 0 else f"Metrics: {len(rows)}, most failures first"),
        rows_table("Metrics", head, rows[:_MAX_METRICS]),
        tag(
            "details",
            tag("summary", count(left, "more metric")),
            rows_table("More metrics", head, rows[_MAX_METRICS:]),
        )
        if left > 0
        else None,
    )


def _spark(counts: tuple[int, ...]) -> Markup | None:
    """Return how the scores are spread over the scale, as bars."""
    if not any(counts):
        return None
    highest = max(counts)
    bars = [
        tag("rect", x=8 * n, y=14 - h, width=7, height=h)
        for n, number in enumerate(counts)
        for h in (max(13 * number / highest, 0.6),)
    ]
    label = f"from low to high: {', '.join(map(str, counts))}"
    return tag("svg", bars, viewBox="0 0 48 14", class_="spark", role="img", aria_label=label)


def _metric_row(
    use: MetricSpec, summary: MetricSummary, change: Child, spark: Markup | None
) -> Markup:
    decided = summary.passed + summary.failed
    share = f"{summary.passed:,} / {decided:,}" if use.threshold is not None else "informs"
    needs = limit(use.threshold)
    return tag(
        "tr",
        tag("th", tag("a", breakable(use.name), href=address("metrics", use.name)), scope="row"),
        tag("td", needs, class_="n quiet"),
        tag("td", score(summary.mean), class_="n"),
        tag("td", change, class_="n"),
        tag("td", share, class_="n"),
        tag("td", spark),
    )


def _groups(run: Run, query: RunQuery) -> Markup | None:
    names = list(dict.fromkeys(group.by for group in run.summary.groups))
    if not names:
        return None
    links = [
        tag(
            "a",
            name,
            href=address(
                "runs", run.id, **query.parameters(), by=None if name == query.by else name
            ),
            aria_current="true" if name == query.by else None,
            data_sets="by",
        )
        for name in names
    ]
    nav = tag("nav", tag("span", "Break down by"), links, class_="pages", aria_label="Break down")
    if query.by is None:
        return nav
    rows = [
        tag(
            "tr",
            tag("th", group.value, scope="row", dir="auto"),
            tag("td", f"{group.cases.passed:,} / {group.cases.total:,}", class_="n"),
            (tag("td", score(group.means.get(use.name)), class_="n") for use in run.metrics),
        )
        for group in run.summary.groups
        if group.by == query.by
    ]
    head: list[Child] = [query.by, "#passed", *(f"#{use.name}" for use in run.metrics)]
    return join([nav, rows_table(f"By {query.by}", head, rows)])


def _traces_without_case(run: Run) -> Markup | None:
    if not run.unmatched:
        return None
    rows = [
        tag("tr", tag("th", entry.trace, scope="row", dir="auto"), tag("td", entry.why, dir="auto"))
        for entry in run.unmatched[:_MAX_CAUSES]
    ]
    title = f"{count(len(run.unmatched), 'trace')} without a case"
    return tag("section", tag("h2", title), rows_table(title, ["trace", "why"], rows))
