"""The table of cases, which a small script of ours can filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.report.html.detail import detail
from carob.report.html.parts import STATUSES, cut, named, number, scrolling, sign, stamp, table
from carob.report.markup import Markup, join, tag
from carob.report.text import count
from carob.schema import CaseResult, CaseScore, Run

_MOST_SIZE = 8_000_000
"""Characters of details in one report."""
_CHUNK = 200
"""Cases in one table."""
_FEW = 500
"""Cases up to which those that passed have details too."""
_MOST_ROWS = 20_000
_ORDER = {status: index for index, status in enumerate(STATUSES)}
_MOST_UNMATCHED = 500


def case_section(run: Run) -> Markup:
    """The filters, and the cases with those that did not pass first."""
    if not run.cases:
        return tag("p", "The run has no cases.")
    rows = _Rows(run)
    bodies = list(rows.bodies())
    starts = range(0, len(bodies), _CHUNK)
    chunks = [_chunk(bodies[start : start + _CHUNK], start, rows.metrics) for start in starts]
    note = rows.note()
    return join([_filters(run, rows.metrics), note and tag("p", note, class_="note"), chunks])


def _chunk(bodies: list[Markup], start: int, metrics: Iterable[str]) -> Markup:
    """A table of its own, so that a browser lays out only what is on the screen."""
    columns = ["status", "case", *map(named, metrics)]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    first = "Cases, those that did not pass first"
    caption = first if not start else f"Cases from {start + 1:,} on"
    filled = tag("table", tag("caption", caption), head, bodies, class_="cases")
    return scrolling(filled, caption, "chunk")


class _Rows:
    """The rows, and what had to be left out of them."""

    def __init__(self, run: Run) -> None:
        numbered = enumerate(run.cases, 1)
        ordered = sorted(numbered, key=lambda pair: _ORDER[pair[1].status])
        self.cases = ordered[:_MOST_ROWS]
        self.left = len(ordered) - len(self.cases)
        self.metrics = {use.name: index for index, use in enumerate(run.metrics)}
        self.few = len(run.cases) <= _FEW
        self.size = self.cut = self.bare = 0

    def bodies(self) -> Iterator[Markup]:
        """A row group for each case: its scores, and below them the details."""
        for index, result in self.cases:
            details = self._detail(result)
            yield tag(
                "tbody",
                tag(
                    "tr", _cells(result, index, self.metrics), class_="opened" if details else None
                ),
                details and tag("tr", tag("td", details, colspan=len(self.metrics) + 2)),
                id=f"case-{index}",
                data_status=result.status,
                data_metrics=_troubled(result, self.metrics) or None,
            )

    def note(self) -> str | None:
        """What is not in the page, and where it is."""
        parts = [
            f"{words} {count(number, 'case')}{which}."
            for words, number, which in (
                ("Left out:", self.left, ""),
                ("Without details, as the page would be too large:", self.cut, ""),
                ("Without details:", self.bare, " that passed"),
            )
            if number
        ]
        return f"{' '.join(parts)} All are in `carob run … --format json`." if parts else None

    def _detail(self, result: CaseResult) -> Markup | None:
        if result.status == "passed" and not self.few:
            self.bare += 1
            return None
        if self.size > _MOST_SIZE:
            self.cut += 1
            return None
        made = detail(result)
        self.size += len(made)
        return made


def _cells(result: CaseResult, index: int, metrics: dict[str, int]) -> Iterator[Markup]:
    scores = {score.metric: score for score in result.scores}
    name = cut(result.case or result.trace or "(no name)")
    yield tag("td", stamp(result.status))
    yield tag("th", tag("a", named(name), href=f"#case-{index}"), scope="row")
    yield from (tag("td", _score(scores.get(metric))) for metric in metrics)


def _score(score: CaseScore | None) -> Markup:
    if score is None:
        return Markup()
    return join([sign(score.status), " ", number(score.value) if score.value is not None else None])


def _troubled(result: CaseResult, metrics: dict[str, int]) -> str:
    """The metrics that a case did not pass, by their numbers."""
    found = [score.metric for score in result.scores if score.status not in ("passed", "info")]
    return " ".join(str(metrics[name]) for name in found if name in metrics)


def _filters(run: Run, metrics: dict[str, int]) -> Markup:
    """The style sheet hides them where there are no scripts, without which they do nothing."""
    counts = run.summary.cases
    numbers = (counts.failed, counts.errors, counts.unscored, counts.passed)
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="status", value=status, checked=True),
            f" {status} ({value:,})",
        )
        for status, value in zip(STATUSES, numbers, strict=True)
        if value
    ]
    options = [tag("option", name, value=str(index)) for name, index in metrics.items()]
    return tag(
        "form",
        tag("fieldset", tag("legend", "Status"), boxes),
        tag("label", "Not passed by ", tag("select", tag("option", "any", value=""), options)),
        tag(
            "label",
            "Text ",
            tag("input", type="search", placeholder="case, reason, answer", autocomplete="off"),
        ),
        tag("button", "Show all", type="reset"),
        tag("output", f"{count(counts.total, 'case')}", aria_live="polite", role="status"),
        id="filters",
        role="search",
        aria_label="Filter the cases",
    )


def unmatched_section(run: Run) -> Markup | None:
    """Traces that belong to no case."""
    if not run.unmatched:
        return None
    rows = [[one.trace, cut(one.why)] for one in run.unmatched[:_MOST_UNMATCHED]]
    left = len(run.unmatched) - _MOST_UNMATCHED
    return join(
        [
            table("Traces that belong to no case", ["trace", "why"], [[*row] for row in rows]),
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ]
    )
