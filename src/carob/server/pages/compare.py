"""Two runs: one sentence, the metrics with intervals, then what flipped and what moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from carob.api import history
from carob.api.views.comparison import ComparisonView, view_comparison
from carob.report.comparison import changed_inputs
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Comparison, MetricComparison
from carob.schema.history import RunEntry
from carob.server.binding import Query
from carob.server.pages.compare_flips import flip_article
from carob.server.pages.page import Page, Pages
from carob.server.pages.parts import (
    address,
    commands,
    delta,
    empty,
    filter_form,
    link_button,
    minute,
    moment,
    p_value,
    rows_table,
    score,
)
from carob.server.pages.run_summary import difference_text
from carob.server.workspace import Workspace

pages = Pages()
_RUN = "carob run traces.jsonl --golden golden.json"
_WORDS = {
    "regressed": ("▼", "Regressed."),
    "improved": ("▲", "Improved."),
    "equivalent": ("=", "Equivalent."),
    "inconclusive": ("?", "Not proven."),
}


class ComparePageQuery(Query, frozen=True):
    """Two runs, and which flips to show."""

    base: str | None = None
    run: str | None = None
    pick: tuple[str, ...] = ()
    """Runs that were selected in the list, newest first."""
    show: Literal["flips", "broke", "fixed", "text"] = "flips"


@pages.get("/compare")
def show_comparison(workspace: Workspace, query: ComparePageQuery) -> Page:
    """Compare two runs."""
    if len(query.pick) >= 2:
        query = ComparePageQuery(base=query.pick[1], run=query.pick[0], show=query.show)
    elif query.pick:
        query = ComparePageQuery(base=query.base, run=query.pick[0], show=query.show)
    if query.base is None or query.run is None:
        return Page(
            title="Compare",
            section="Runs",
            crumbs=(("Runs", "/runs"), ("Compare", "")),
            content=[tag("h1", "Compare two runs"), _choose(workspace, query)],
        )
    view = view_comparison(query.base, query.run, store=workspace.store)
    comparison = view.comparison
    return Page(
        title=f"{comparison.verdict}: {comparison.before.id} → {comparison.after.id}",
        section="Runs",
        crumbs=(("Runs", "/runs"), ("Compare", "")),
        content=[
            _headline(comparison),
            _sides(comparison),
            _metrics(comparison),
            _input_changes(comparison),
            _flips(view, query),
        ],
        command=(
            "compare",
            comparison.before.id,
            comparison.after.id,
            *workspace.store_arguments,
        ),
        keys=(("j k", "move"), ("enter", "open")),
    )


def _choose(workspace: Workspace, query: ComparePageQuery) -> Markup:
    if not history.store_exists(store=workspace.store):
        return empty("There are no runs yet.", commands(_RUN))
    listed = history.list_runs(limit=100, store=workspace.store).runs
    entries = [*{entry.id: entry for entry in reversed(listed)}.values()][::-1]
    if len(entries) < 2:
        text = "There is only one run yet." if entries else "There are no runs yet."
        return empty(text, commands(_RUN))
    run = query.run or entries[0].id
    proposed = query.base or _propose_base(entries, run)

    def select(label: str, name: str, chosen: str) -> Markup:
        options = [
            tag(
                "option",
                " · ".join(
                    [minute(entry.created_at), entry.dataset or "", entry.verdict, entry.id]
                ),
                value=entry.id,
                selected=entry.id == chosen,
            )
            for entry in entries
        ]
        return tag("label", tag("span", label), tag("select", options, name=name))

    fields = [select("base", "base", proposed), select("run", "run", run)]
    return filter_form("/compare", fields, {}, button="Compare")


def _propose_base(entries: Sequence[RunEntry], run: str) -> str:
    """Return the last run of the same dataset that passed, or else the one that fits best."""
    own = next((entry for entry in entries if entry.id == run), None)
    others = [entry for entry in entries if entry.id != run]
    same = [entry for entry in others if own is None or entry.dataset == own.dataset]
    passed = (entry for entry in same if entry.verdict == "passed")
    return next(passed, (same or others)[0]).id


def _headline(comparison: Comparison) -> Markup:
    mark, word = _WORDS[comparison.verdict]
    verdict = tag("span", f"{mark} {word}", class_=comparison.verdict)
    text = f" {_sentence(comparison)}."
    detail = difference_text(comparison).removeprefix(": ")
    run, base = comparison.after.id, comparison.before.id
    buttons = [
        link_button("Other runs…", address("compare", run=run)),
        link_button("Swap", address("compare", base=run, run=base)),
    ]
    return tag(
        "div",
        tag("div", tag("h1", verdict, text), tag("p", Markup(detail), class_="lead")),
        tag("div", buttons, class_="actions"),
        class_="top",
    )


def _sentence(comparison: Comparison) -> str:
    deciding = [m for m in (comparison.overall, *comparison.metrics) if m and m.deciding]
    if comparison.verdict == "inconclusive" and len(deciding) > 1 and comparison.cases.same:
        cases = count(comparison.cases.same, "unchanged case")
        return f"None of {len(deciding)} metrics changed significantly on {cases}"
    first = comparison.sentence.partition(" ")[0]
    # The sentence may start with the name of a metric, which is no word to capitalize.
    start = comparison.sentence[:1] if "_" in first else comparison.sentence[:1].upper()
    return f"{start}{comparison.sentence[1:]}"


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
    rows = [_metric_row(metric, _reach(metric, metrics)) for metric in metrics]
    return tag("section", tag("h2", "Metrics"), rows_table("Metrics", head, rows, "metrics"))


def _reach(metric: MetricComparison, metrics: Sequence[MetricComparison]) -> float:
    """Return the largest difference to draw: the same for all metrics from 0 to 1, so that their
    intervals can be compared by eye."""
    same = [m for m in metrics if _largest(m) <= 1] if _largest(metric) <= 1 else [metric]
    return max([*map(_largest, same), 1e-9])


def _largest(metric: MetricComparison) -> float:
    difference = metric.difference
    return max(map(abs, (*difference.interval, difference.margin))) if difference else 0.0


def _metric_row(metric: MetricComparison, reach: float) -> Markup:
    difference = metric.difference
    return tag(
        "tr",
        tag("th", breakable(metric.name), scope="row"),
        tag("td", score(metric.before.value if metric.before else None), class_="n"),
        tag("td", score(metric.after.value if metric.after else None), class_="n"),
        tag("td", delta(difference.value, better=metric.better) if difference else "", class_="n"),
        tag("td", _interval(metric, reach), class_="interval-cell"),
        tag("td", p_value(difference.adjusted_p) if difference else "", class_="n"),
        tag("td", metric.sentence, class_="wrap"),
    )


def _interval(metric: MetricComparison, reach: float) -> Markup | None:
    """Draw a difference and its confidence interval around zero."""
    difference = metric.difference
    if difference is None:
        return None
    low, high = difference.interval

    def x(value: float) -> float:
        return 50 + 48 * value / reach

    worse = difference.value < 0 if metric.better == "higher" else difference.value > 0
    proven = metric.verdict in ("regressed", "improved")
    fill = ("fill-failed" if worse else "fill-passed") if proven else "fill-unscored"
    return tag(
        "svg",
        tag("rect", x=0, y=5.5, width=100, height=1, class_="track"),
        tag("rect", x=x(low), y=3, width=max(x(high) - x(low), 0.8), height=6, class_=fill),
        tag("line", x1=50, x2=50, y1=0, y2=12, class_="axis"),
        tag("line", x1=x(difference.value), x2=x(difference.value), y1=3, y2=9, class_="point"),
        viewBox="0 0 100 12",
        preserveAspectRatio="none",
        class_="interval",
        role="img",
        aria_label=f"{score(difference.value)}, from {score(low)} to {score(high)}",
    )


def _input_changes(comparison: Comparison) -> Markup:
    changes = list(changed_inputs(comparison))
    if not changes:
        text = "Golden data, metrics, judges and trace mappings are the same"
        text += ": the agent moved." if comparison.flips else "."
        return tag("p", text, class_="note")
    items = [tag("li", change) for change in changes]
    return tag("section", tag("h2", "What else moved"), tag("ul", items))


def _flips(view: ComparisonView, query: ComparePageQuery) -> Markup:
    comparison = view.comparison
    kinds = {
        "flips": ("all", view.flips),
        "broke": ("▼ broke", [f for f in view.flips if f.flip.kind == "broke"]),
        "fixed": ("▲ fixed", [f for f in view.flips if f.flip.kind == "fixed"]),
        "text": ("only the text differs", [f for f in view.flips if f.only_text]),
    }
    links = [
        tag(
            "a",
            f"{name} {len(flips):,}",
            href=address("compare", base=query.base, run=query.run, show=show),
            aria_current="true" if show == query.show else None,
        )
        for show, (name, flips) in kinds.items()
    ]
    shown = [flip_article(comparison, flip) for flip in kinds[query.show][1]]
    left = len(comparison.flips) - len(view.flips)
    unchanged = comparison.cases.same - len(comparison.flips)
    numbers = f"{unchanged:,} unchanged · {len(comparison.cases.changed):,} not comparable"
    return tag(
        "section",
        tag("h2", f"Flips: {len(comparison.flips):,} · {numbers}"),
        tag("nav", links, class_="pages", aria_label="Kinds of flips"),
        tag("div", shown or tag("p", "No case flipped.", class_="quiet"), class_="list"),
        tag("p", f"And {left:,} more.", class_="quiet") if left > 0 else None,
    )
