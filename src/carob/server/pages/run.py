"""One run: the verdict as a sentence, why cases failed, then the cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

import msgspec

from carob.api.run_view import CaseFilter, CaseLine, RunView, view_run
from carob.report.charts import proportions
from carob.report.html.causes import cause_text
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.run import WHY_INFORMATIONAL, metrics_without_scores
from carob.report.text import count
from carob.schema import CaseResult, CaseScore, MetricSpec, MetricSummary, Run, Status
from carob.schema.causes import Cause, CauseGroup, CauseKind
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    choice,
    delta,
    filter_form,
    moment,
    rows_table,
    score,
    sign,
    strip,
    text_field,
)
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_MAX_CAUSES = 12
_MAX_COLUMNS = 6
_SENTENCES = {"passed": "Passed.", "failed": "Failed.", "inconclusive": "No verdict."}


class RunPath(Query, frozen=True):
    """A run."""

    run: str


class RunQuery(Query, frozen=True):
    """Which cases of the run to show."""

    status: Status | None = None
    metric: str | None = None
    cause: str | None = None
    """As `KIND:SUBJECT`."""
    q: str = ""
    sort: Literal["worst", "dataset"] = "worst"
    page: Annotated[int, msgspec.Meta(ge=1)] = 1


@pages.get("/runs/{run}")
def show_run(workspace: Workspace, path: RunPath, query: RunQuery) -> Page:
    """Show a run."""
    wanted = CaseFilter(query.status, query.metric, _parse_cause(query.cause), query.q, query.sort)
    view = view_run(path.run, wanted, page=query.page, store=workspace.store)
    run = view.run
    return Page(
        title=f"{run.verdict}: {run.dataset.name if run.dataset else run.id}",
        section="Runs",
        crumbs=run_crumbs(run),
        content=[
            _headline(run),
            _compared(view),
            proportions(run.summary.cases),
            _facts(run),
            tag("div", _causes(view, query), _metrics(view), class_="columns"),
            _cases(view, query),
            _unmatched(run),
        ],
        command=f"carob report {run.id}",
        keys=(("j k", "move"), ("enter", "open"), ("f", "failed only"), ("c", "compare")),
    )


def run_crumbs(run: Run, *, link: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the way to a run."""
    dataset = ()
    if run.dataset:
        name = f"{run.dataset.name} {run.dataset.version or ''}".rstrip()
        dataset = ((name, address("runs", dataset=run.dataset.name)),)
    own = address("runs", run.id) if link else ""
    return (("Runs", "/runs"), *dataset, (run.id, own))


def _headline(run: Run) -> Markup:
    counts = run.summary.cases
    parts = [
        text
        for number, text in (
            (counts.failed, f"{counts.failed:,} of {count(counts.total, 'case')} failed"),
            (counts.errors, f"{counts.errors:,} had errors"),
            (counts.unscored, f"{counts.unscored:,} could not be scored"),
        )
        if number
    ]
    if not parts:
        parts = [f"{counts.passed:,} of {count(counts.total, 'case')} passed"]
    if run.verdict == "informational":
        parts = [WHY_INFORMATIONAL]
    word = _SENTENCES.get(run.verdict, "Informational.")
    mark = {"passed": "✓ ", "failed": "✗ "}.get(run.verdict, "")
    text = ", ".join(parts)
    verdict = tag("span", tag("span", mark, aria_hidden="true"), word, class_=run.verdict)
    return tag("h1", verdict, " ", f"{text[:1].upper()}{text[1:]}.")


def _compared(view: RunView) -> Markup | None:
    before, run = view.before, view.run
    if before is None:
        return tag("p", "The first run of this dataset.", class_="lead")
    name = tag("a", before.id, href=address("runs", before.id), class_="mono")
    link = tag(
        "a",
        "Compare",
        href=address("compare", base=before.id, run=run.id),
        id="compare",
        class_="button",
    )
    comparison = view.comparison
    if comparison is None:
        return tag("p", "Previous run: ", name, ". ", link, class_="lead")
    words = {"regressed": "Worse than ", "improved": "Better than ", "equivalent": "Equal to "}
    start = words.get(comparison.verdict, "No proven difference to ")
    deciding = [m for m in comparison.metrics if m.deciding and m.verdict == comparison.verdict]
    said = f": {deciding[0].name} {deciding[0].sentence}" if deciding else ""
    flips = f" {count(len(comparison.flips), 'flip')}." if comparison.flips else ""
    return tag("p", start, name, f"{said}.{flips} ", link, class_="lead")


def _facts(run: Run) -> Markup:
    counts = run.summary.cases
    numbers = (
        f"{counts.passed:,} passed · {counts.failed:,} failed · "
        f"{counts.unscored:,} unscored · {counts.errors:,} errors"
    )
    judges = ", ".join(dict.fromkeys(use.judge.model for use in run.metrics if use.judge))
    asked = f"judged by {judges}" if judges else "no model asked"
    reports = [
        [" · ", tag("a", form, href=f"/api/runs/{run.id}/report.{form}")]
        for form in ("html", "md", "csv", "json")
    ]
    remarks = [
        tag("p", tag("strong", breakable(name)), f" scored no case: {reason}", class_="warning")
        for name, reason in metrics_without_scores(run)
    ]
    stopped = tag("p", f"Judging stopped early: {run.stopped}", class_="warning")
    return join(
        [
            tag(
                "p",
                f"{numbers} — {asked}, ",
                moment(run.created_at),
                " · report:",
                reports,
                class_="quiet",
            ),
            stopped if run.stopped else None,
            remarks,
        ]
    )


def _causes(view: RunView, query: RunQuery) -> Markup:
    groups = view.causes
    if not groups:
        return tag(
            "section",
            tag("h2", "Why"),
            tag("p", f"All {count(view.run.summary.cases.total, 'case')} are as expected."),
        )
    rows = [_cause_row(view.run, group, query) for group in groups[:_MAX_CAUSES]]
    left = len(groups) - _MAX_CAUSES
    return tag(
        "section",
        tag("h2", f"Why: {count(len(groups), 'cause')}"),
        rows_table("Causes", ["cause", "#cases"], rows, "list"),
        tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None,
    )


def _cause_row(run: Run, group: CauseGroup, query: RunQuery) -> Markup:
    key = f"{group.cause.kind}:{group.cause.subject}"
    chosen = query.cause == key
    link = address("runs", run.id, cause=None if chosen else key)
    return tag(
        "tr",
        tag(
            "th",
            tag("a", cause_text(group.cause), href=link, aria_current="true" if chosen else None),
            scope="row",
        ),
        tag("td", f"{group.cases:,}", class_="n"),
        class_="chosen" if chosen else None,
    )


def _parse_cause(text: str | None) -> Cause | None:
    if text is None:
        return None
    kind, _, subject = text.partition(":")
    try:
        return Cause(msgspec.convert(kind, CauseKind), subject)
    except msgspec.ValidationError as error:
        hint = f"expected one of: {', '.join(get_args(CauseKind))}"
        raise RequestError(400, f"unknown cause {kind!r}", hint=hint) from error


def _metrics(view: RunView) -> Markup:
    changes = {m.name: m for m in view.comparison.metrics} if view.comparison else {}
    head: list[Child] = ["metric", "#mean", "#change", "#passed"]
    rows: list[Markup] = []
    for use in view.run.metrics:
        summary = view.run.summary.metrics.get(use.name, MetricSummary())
        compared = changes.get(use.name)
        difference = compared.difference.value if compared and compared.difference else None
        rows.append(_metric_row(use, summary, delta(difference, better=use.better)))
    return tag("section", tag("h2", "Metrics"), rows_table("Metrics", head, rows))


def _metric_row(use: MetricSpec, summary: MetricSummary, change: Child) -> Markup:
    decided = summary.passed + summary.failed
    share = f"{summary.passed:,} / {decided:,}" if use.threshold is not None else "informs"
    needs = f"needs {use.threshold:g}" if use.threshold is not None else None
    return tag(
        "tr",
        tag(
            "th",
            tag("a", breakable(use.name), href=address("metrics", use.name)),
            tag("small", needs) if needs else None,
            scope="row",
        ),
        tag("td", score(summary.mean), class_="n"),
        tag("td", change, class_="n"),
        tag("td", share, class_="n"),
    )


def _cases(view: RunView, query: RunQuery) -> Markup:
    run, counts = view.run, view.run.summary.cases
    uses = [use.name for use in run.metrics][:_MAX_COLUMNS]
    shown = f"{view.matched:,} of {count(counts.total, 'case')}"
    head: list[Child] = [
        tag("span", "status", class_="unseen"),
        "case",
        "first difference",
        *(f"#{name}" for name in uses),
        "#turns",
        "last 10",
    ]
    table = rows_table("Cases", head, [_case_row(run, line, uses) for line in view.lines], "list")
    nothing = tag("p", "No case matches. ", tag("a", "Show all", href=address("runs", run.id)))
    return tag(
        "section",
        tag("h2", "Cases"),
        _filters(run, query),
        tag("p", f"{shown}, {_order(query)}", role="status", class_="quiet"),
        table if view.lines else nothing,
        _page_links(view, query),
        id="cases",
    )


def _order(query: RunQuery) -> str:
    return "worst first" if query.sort == "worst" else "in the order of the dataset"


def _filters(run: Run, query: RunQuery) -> Markup:
    statuses = [(name, name) for name in get_args(Status)]
    metrics = [(use.name, use.name) for use in run.metrics]
    fields = [
        choice("status", "status", statuses, query.status),
        choice("metric not passed", "metric", metrics, query.metric),
        text_field("text", "q", query.q),
    ]
    sort = None if query.sort == "worst" else query.sort
    return filter_form(address("runs", run.id), fields, {"cause": query.cause, "sort": sort})


def _case_row(run: Run, line: CaseLine, uses: list[str]) -> Markup:
    result = line.result
    name = result.case if result.case is not None else result.trace or ""
    values = {score.metric: score for score in result.scores}
    return tag(
        "tr",
        tag("td", sign(result.status) or tag("span", "info", class_="unseen")),
        tag(
            "th",
            tag("a", name[:200] or "(no name)", href=address("runs", run.id, "cases", name)),
            scope="row",
            dir="auto",
        ),
        tag("td", first_difference(result), class_="first", dir="auto"),
        (tag("td", _value(values.get(use)), class_="n") for use in uses),
        tag("td", str(len(result.exchanges)) if result.exchanges else "", class_="n"),
        tag("td", strip(line.recent)),
        data_status=result.status,
    )


def _value(score_of: CaseScore | None) -> Child:
    if score_of is None:
        return ""
    if score_of.value is None:
        return tag("span", "–", class_="quiet", title=score_of.reason[:200])
    failed = score_of.status == "failed"
    return tag("span", score(score_of.value), class_="failed" if failed else None)


def first_difference(result: CaseResult) -> Child:
    """Return the first reason why a case did not pass, in one line."""
    for item in result.scores:
        if item.status in ("failed", "error") and item.reason:
            return item.reason[:240]
    return next((item.reason[:240] for item in result.scores if item.could_not_be_scored), "")


def _page_links(view: RunView, query: RunQuery) -> Markup | None:
    if view.pages == 1:
        return None
    links: list[Child] = []
    for number in _page_numbers(view.page, view.pages):
        link = address(
            "runs",
            view.run.id,
            status=query.status,
            metric=query.metric,
            cause=query.cause,
            q=query.q,
            sort=None if query.sort == "worst" else query.sort,
            page=number,
        )
        current = "page" if number == view.page else None
        links += [tag("a", f"{number:,}", href=link, aria_current=current), " "]
    return tag("nav", links, class_="pages", aria_label="Pages of cases")


def _page_numbers(page: int, pages: int) -> Iterator[int]:
    near = {1, 2, page - 1, page, page + 1, pages - 1, pages}
    yield from sorted(number for number in near if 1 <= number <= pages)


def _unmatched(run: Run) -> Markup | None:
    if not run.unmatched:
        return None
    rows = [
        tag("tr", tag("th", one.trace, scope="row", dir="auto"), tag("td", one.why, dir="auto"))
        for one in run.unmatched[:_MAX_CAUSES]
    ]
    title = f"{count(len(run.unmatched), 'trace')} without a case"
    return tag("section", tag("h2", title), rows_table(title, ["trace", "why"], rows))
