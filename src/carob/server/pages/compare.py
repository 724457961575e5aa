"""Two runs: one sentence, the metrics with intervals, then what flipped and what moved."""

from __future__ import annotations

from typing import Literal

from carob.api import history
from carob.api.compare import compare
from carob.report.comparison import changed_inputs
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Comparison, Flip, MetricComparison
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    delta,
    diff_words,
    filter_form,
    moment,
    rows_table,
    score,
    sign,
)
from carob.server.workspace import Workspace

pages = Pages()
_MAX_FLIPS = 300
_WORDS = {
    "regressed": ("▼", "Regressed."),
    "improved": ("▲", "Improved."),
    "equivalent": ("=", "Equivalent."),
    "inconclusive": ("?", "Not proven."),
}


class CompareQuery(Query, frozen=True):
    """Two runs, and which flips to show."""

    base: str | None = None
    run: str | None = None
    show: Literal["flips", "broke", "fixed"] = "flips"


@pages.get("/compare")
def show_comparison(workspace: Workspace, query: CompareQuery) -> Page:
    """Compare two runs."""
    if query.base is None or query.run is None:
        return Page(
            title="Compare",
            section="Runs",
            crumbs=(("Runs", "/runs"), ("Compare", "")),
            content=[tag("h1", "Compare two runs"), _choose(workspace, query)],
        )
    runs = [history.stored_run(name, store=workspace.store) for name in (query.base, query.run)]
    comparison = compare(*runs)
    return Page(
        title=f"{comparison.verdict}: {comparison.before.id} → {comparison.after.id}",
        section="Runs",
        crumbs=(("Runs", "/runs"), ("Compare", "")),
        content=[
            _headline(comparison),
            _sides(comparison),
            _metrics(comparison),
            _moved(comparison),
            _flips(comparison, query),
        ],
        command=f"carob compare {comparison.before.id} {comparison.after.id}",
        keys=(("j k", "move"), ("enter", "open")),
    )


def _choose(workspace: Workspace, query: CompareQuery) -> Markup:
    if not history.store_exists(store=workspace.store):
        return tag("p", "There are no runs yet.")
    entries = history.list_runs(limit=100, store=workspace.store).runs
    run = query.run or (entries[0].id if entries else "")
    own = next((entry for entry in entries if entry.id == run), None)
    passed = (
        entry.id
        for entry in entries
        if entry.verdict == "passed"
        and entry.id != run
        and (own is None or entry.dataset == own.dataset)
    )
    proposed = query.base or next(passed, None) or (entries[-1].id if entries else "")

    def select(label: str, name: str, chosen: str) -> Markup:
        options = [
            tag(
                "option",
                f"{entry.id} · {entry.verdict} · {entry.dataset or ''} · {entry.created_at[:16]}",
                value=entry.id,
                selected=entry.id == chosen,
            )
            for entry in entries
        ]
        return tag("label", tag("span", label), tag("select", options, name=name))

    fields = [select("base", "base", proposed), select("run", "run", run)]
    return filter_form("/compare", fields, {})


def _headline(comparison: Comparison) -> Markup:
    mark, word = _WORDS[comparison.verdict]
    verdict = tag("span", f"{mark} {word}", class_=comparison.verdict)
    sentence = comparison.sentence
    deciding = [m for m in comparison.metrics if m.deciding and m.verdict == comparison.verdict]
    details = [tag("p", tag("strong", breakable(m.name)), f" {m.sentence}.") for m in deciding[:3]]
    text = f" {sentence[:1].upper()}{sentence[1:]}."
    return join([tag("h1", verdict, text), tag("div", details, class_="lead")])


def _sides(comparison: Comparison) -> Markup:
    before, after = comparison.before, comparison.after
    cases = comparison.cases
    facts = [f"{count(cases.same, 'case')} in both"]
    facts += [
        f"{len(ids):,} {word}"
        for ids, word in (
            (cases.added, "added"),
            (cases.removed, "removed"),
            (cases.changed, "changed and not compared"),
        )
        if ids
    ]
    return tag(
        "p",
        "base ",
        tag("a", before.id, href=address("runs", before.id), class_="mono"),
        " ",
        moment(before.created_at),
        " → ",
        tag("a", after.id, href=address("runs", after.id), class_="mono"),
        " ",
        moment(after.created_at),
        f" · {' · '.join(facts)}",
        class_="quiet",
    )


def _metrics(comparison: Comparison) -> Markup:
    metrics = [*((comparison.overall,) if comparison.overall else ()), *comparison.metrics]
    head: list[Child] = ["metric", "#base", "#run", "#change", "interval", "#p", "what it means"]
    rows = [_metric_row(metric) for metric in metrics]
    return tag("section", tag("h2", "Metrics"), rows_table("Metrics", head, rows))


def _metric_row(metric: MetricComparison) -> Markup:
    difference = metric.difference
    return tag(
        "tr",
        tag("th", breakable(metric.name), scope="row"),
        tag("td", score(metric.before.value if metric.before else None), class_="n"),
        tag("td", score(metric.after.value if metric.after else None), class_="n"),
        tag("td", delta(difference.value, better=metric.better) if difference else "", class_="n"),
        tag("td", _interval(metric), class_="time"),
        tag("td", f"{difference.adjusted_p:.2g}" if difference else "", class_="n"),
        tag("td", metric.sentence, class_="wrap"),
    )


def _interval(metric: MetricComparison) -> Markup | None:
    """Draw the confidence interval of a difference around zero."""
    difference = metric.difference
    if difference is None:
        return None
    low, high = difference.interval
    reach = max(abs(low), abs(high), difference.margin, 1e-9)

    def x(value: float) -> float:
        return 50 + 48 * value / reach

    worse = difference.value < 0 if metric.better == "higher" else difference.value > 0
    proven = metric.verdict in ("regressed", "improved")
    fill = ("fill-failed" if worse else "fill-passed") if proven else "fill-unscored"
    return tag(
        "svg",
        tag("rect", x=x(low), y=3, width=max(x(high) - x(low), 0.8), height=6, class_=fill),
        tag("line", x1=50, x2=50, y1=0, y2=12, class_="axis"),
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        class_="interval",
        role="img",
        aria_label=f"from {score(low)} to {score(high)}",
    )


def _moved(comparison: Comparison) -> Markup:
    changes = list(changed_inputs(comparison))
    if not changes:
        text = "Golden data, metrics, judges and trace mappings are the same: the agent moved."
        return tag("p", text, class_="note")
    items = [tag("li", change) for change in changes]
    return tag("section", tag("h2", "What else moved"), tag("ul", items))


def _flips(comparison: Comparison, query: CompareQuery) -> Markup:
    wanted = [flip for flip in comparison.flips if query.show in ("flips", flip.kind)]
    wanted.sort(key=lambda flip: flip.kind)
    broke = sum(flip.kind == "broke" for flip in comparison.flips)
    fixed = len(comparison.flips) - broke
    links = [
        tag(
            "a",
            f"{name} {number:,}",
            href=address("compare", base=query.base, run=query.run, show=show),
            aria_current="true" if show == query.show else None,
        )
        for show, name, number in (
            ("flips", "all", len(comparison.flips)),
            ("broke", "▼ broke", broke),
            ("fixed", "▲ fixed", fixed),
        )
    ]
    shown = [_flip(comparison, flip) for flip in wanted[:_MAX_FLIPS]]
    left = len(wanted) - _MAX_FLIPS
    return tag(
        "section",
        tag("h2", f"Flips: {len(comparison.flips):,}"),
        tag("nav", links, class_="pages", aria_label="Kinds of flips"),
        shown or tag("p", "No case flipped.", class_="quiet"),
        tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None,
    )


def _flip(comparison: Comparison, flip: Flip) -> Markup:
    run = comparison.after.id
    reasons = [
        tag(
            "li",
            tag("strong", breakable(item.metric)),
            f" {score(item.before)} → ",
            f"{score(item.after)} ",
            item.reason,
            dir="auto",
        )
        for item in flip.scores
    ]
    mark = "▼" if flip.kind == "broke" else "▲"
    return tag(
        "article",
        tag(
            "h3",
            tag("span", mark, class_=flip.kind, aria_hidden="true"),
            " ",
            tag("a", flip.case, href=address("runs", run, "cases", flip.case), dir="auto"),
            " ",
            sign(flip.before),
            " → ",
            sign(flip.after),
        ),
        tag("ul", reasons, class_="paths"),
        [_flip_turn(turn.before, turn.after, turn.expected) for turn in flip.turns],
        class_="flip",
    )


def _flip_turn(before: str | None, after: str | None, expected: str | None) -> Markup | None:
    wrong = after if after is not None else before
    if expected is None or wrong is None or expected == wrong:
        return None
    left, right = diff_words(expected, wrong)
    name = "run" if after is not None else "base"
    return tag(
        "div",
        tag(
            "div",
            tag("span", "expected", class_="who"),
            tag("div", left, dir="auto"),
            class_="said",
        ),
        tag("div", tag("span", name, class_="who"), tag("div", right, dir="auto"), class_="said"),
        class_="pair",
    )
