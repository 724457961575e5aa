"""What a run comes to: the verdict as a sentence, the difference to the run before, the facts."""

from __future__ import annotations

from carob.api.views.run import RunView
from carob.report.html.parts import breakable
from carob.report.judge_cost import dollars
from carob.report.markup import Child, Markup, join, tag
from carob.report.run import (
    WHY_INFORMATIONAL,
    attempt_rows,
    flaky_text,
    metrics_without_scores,
)
from carob.report.text import count
from carob.schema import Comparison, MetricComparison, Run
from carob.server.pages.parts import address, chips, label_chips, moment, rows_table, score

_SENTENCES = {"passed": "Passed.", "failed": "Failed.", "inconclusive": "No verdict."}


def headline(run: Run) -> Markup:
    """Return the verdict as a sentence."""
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
    if counts.passed == counts.total and counts.total:
        parts = [f"All {counts.total:,} passed" if counts.total > 1 else "The only case passed"]
    if run.verdict == "informational":
        parts = [WHY_INFORMATIONAL]
    word = _SENTENCES.get(run.verdict, "Informational.")
    mark = {"passed": "✓ ", "failed": "✗ "}.get(run.verdict, "")
    text = ", ".join(parts)
    verdict = tag("span", tag("span", mark, aria_hidden="true"), word, class_=run.verdict)
    return tag("h1", verdict, " ", f"{text[:1].upper()}{text[1:]}.")


def comparison_line(view: RunView) -> Markup:
    """Say how a run differs from the one before."""
    before, comparison = view.before, view.comparison
    if before is None:
        return tag("p", "The first run of this dataset.", class_="lead")
    name = tag("a", before.id, href=address("runs", before.id), class_="mono")
    if comparison is None:
        return tag("p", "Previous run: ", name, ". Compare shows how they differ.", class_="lead")
    words = {"regressed": "Worse than ", "improved": "Better than ", "equivalent": "Equal to "}
    start = words.get(comparison.verdict, "No significant difference from ")
    flips = f" {count(len(comparison.flips), 'flip')}." if comparison.flips else ""
    return tag("p", start, name, difference_text(comparison), flips, class_="lead")


def difference_text(comparison: Comparison) -> Markup:
    """Say by how much the metric moved that decided, how sure that is, and the smallest drop that
    these cases can show."""
    metric = _deciding(comparison)
    difference = metric.difference if metric else None
    if metric is None or difference is None:
        return join(f": {comparison.sentence}.")
    low, high = difference.interval
    p = "< .001" if difference.adjusted_p < 0.001 else f"= {score(difference.adjusted_p)}"
    text = f" {score(difference.value)} [{score(low)}, {score(high)}], p {p}."
    smallest = (
        f" The smallest drop that {count(metric.cases, 'case')} can show is"
        f" {score(difference.detectable)}."
        if difference.detectable is not None
        else f" {count(metric.cases, 'case')} can show no drop at all."
    )
    return join([": ", tag("strong", breakable(metric.name)), text, smallest])


def _deciding(comparison: Comparison) -> MetricComparison | None:
    """The metric to name: of those with the verdict of the whole, the one that moved the most."""
    metrics = [m for m in comparison.metrics if m.difference]
    deciding = [m for m in metrics if m.deciding and m.verdict == comparison.verdict] or metrics

    def sureness(metric: MetricComparison) -> tuple[float, float]:
        assert metric.difference  # noqa: S101 - only such are asked
        return metric.difference.adjusted_p, -abs(metric.difference.value)

    return min(deciding, key=sureness, default=None)


def _asked(run: Run) -> str:
    """Say which models and agents were asked, and what that cost."""
    judges = ", ".join(dict.fromkeys(use.judge.model for use in run.metrics if use.judge))
    parts = [f"judged by {judges}" if judges else "no model asked"]
    if run.target:
        times = f" {count(run.target.repeat, 'time')}" if run.target.repeat > 1 else ""
        parts.insert(0, f"live agent {run.target.name} asked{times}")
    costs = [usage.cost for usage in run.spending.values()] if run.spending else []
    known = [cost for cost in costs if cost is not None]
    if costs:
        parts.append(dollars(sum(known) if len(known) == len(costs) else None))
    return ", ".join(parts)


def attempts_section(run: Run) -> Markup | None:
    """Return how many attempts at a case have to pass, for runs that tried each several times."""
    attempts = run.summary.attempts
    if not attempts:
        return None
    rows = [
        tag("tr", (tag("td", cell, class_="n") for cell in row)) for row in attempt_rows(attempts)
    ]
    head: list[Child] = ["#attempts k", "#pass@k", "#pass^k", "#cases"]
    return tag(
        "section",
        tag("h2", "Repeated attempts"),
        rows_table("Repeated attempts", head, rows),
        tag("p", flaky_text(attempts), class_="note", dir="auto") if attempts.flaky else None,
    )


def run_facts(view: RunView) -> Markup:
    """Return the counts, who was asked, the labels, and what makes the verdict less certain."""
    run = view.run
    counts = run.summary.cases
    numbers = (
        f"{counts.passed:,} passed · {counts.failed:,} failed · "
        f"{counts.unscored:,} unscored · {counts.errors:,} errors"
    )
    remarks = [
        tag("p", tag("strong", breakable(name)), f" scored no case: {reason}", class_="warning")
        for name, reason in metrics_without_scores(run)
    ]
    stopped = tag("p", f"Judging stopped early: {run.stopped}", class_="warning")
    return join(
        [
            tag(
                "p", f"{numbers} — {_asked(run)}, ", moment(run.created_at), " UTC", class_="quiet"
            ),
            tag("p", chips(label_chips(view.labels), 12), dir="auto") if view.labels else None,
            stopped if run.stopped else None,
            remarks,
        ]
    )
