"""The section of cases: a table that an embedded script filters."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from carob.files.spool import Spool
from carob.report.html.detail import detail
from carob.report.html.parts import (
    STATUSES,
    breakable,
    count_statuses,
    cut,
    number,
    scrolling,
    sign,
    stamp,
    table,
)
from carob.report.markup import Markup, join, tag
from carob.report.text import count
from carob.schema import CaseResult, CaseScore, Run

_MAX_DETAILS = 8_000_000
"""Maximum characters of details in one report."""
_CHUNK = 200
"""Number of cases in one table."""
_CHUNKS_IN_MEMORY = 5
_MAX_PASSED_DETAILS = 500
"""With more cases, those that passed are shown without details."""
_MAX_ROWS = 20_000
_MAX_UNMATCHED = 500


def case_section(run: Run) -> Iterator[Markup]:
    """Yield the filters and the cases, those that did not pass first."""
    if not run.cases:
        yield tag("p", "This run has no cases.")
        return
    rows = _Rows(run)
    yield _filters(run, rows.metrics)
    # What was left out is known when all rows are made, but it is said above them.
    chunks = Spool(_MarkupCodec(), in_memory=_CHUNKS_IN_MEMORY)
    bodies, start = rows.bodies(), 0
    while chunk := [*islice(bodies, _CHUNK)]:
        chunks.append(_chunk(chunk, start, rows.metrics))
        start += len(chunk)
    note = rows.note()
    if note:
        yield tag("p", note, class_="note")
    yield from chunks.finish()


class _MarkupCodec:
    def encode(self, item: Markup, /) -> bytes:
        return item.encode()

    def decode(self, data: bytes, /) -> Markup:
        return Markup(data.decode())


def _chunk(bodies: list[Markup], start: int, metrics: Iterable[str]) -> Markup:
    """Return one table. Browsers skip the layout of tables that are off the screen."""
    columns = ["status", "case", *map(breakable, metrics)]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in columns]))
    caption = f"Cases from {start + 1:,}" if start else "Cases, not passed first"
    content = tag("table", tag("caption", caption), head, bodies, class_="cases")
    return scrolling(content, caption, "chunk")


class _Rows:
    """The rows, and counts of what was left out to limit the size of the page."""

    def __init__(self, run: Run) -> None:
        self.run, self.places = run, _first_places(run)
        self.left = len(run.cases) - len(self.places)
        self.metrics = {use.name: index for index, use in enumerate(run.metrics)}
        self.few = len(run.cases) <= _MAX_PASSED_DETAILS
        self.size = self.cut = self.bare = 0

    def bodies(self) -> Iterator[Markup]:
        """Yield a row group for each case: its scores, and its details below them."""
        for place in self.places:
            result, index = self.run.cases[place], place + 1
            details = self._detail(result)
            yield tag(
                "tbody",
                tag(
                    "tr", _cells(result, index, self.metrics), class_="opened" if details else None
                ),
                details and tag("tr", tag("td", details, colspan=len(self.metrics) + 2)),
                id=f"case-{index}",
                data_status=result.status,
                data_metrics=_not_passed(result, self.metrics) or None,
            )

    def note(self) -> str | None:
        """Say what the page omits, and where to find it."""
        parts = [
            f"{count(number, kind)} {effect}."
            for number, kind, effect in (
                (self.left, "case", "omitted"),
                (self.cut, "case", "shown without details to limit the size of the page"),
                (self.bare, "passed case", "shown without details"),
            )
            if number
        ]
        return f"{' '.join(parts)} Use --format json for all of them." if parts else None

    def _detail(self, result: CaseResult) -> Markup | None:
        if result.status in ("passed", "info") and not self.few:
            self.bare += 1
            return None
        if self.size > _MAX_DETAILS:
            self.cut += 1
            return None
        details = detail(result)
        self.size += len(details)
        return details


def _first_places(run: Run) -> Sequence[int]:
    """Return the places of the cases to show: those that did not pass first, and not more than a
    page can show. Only places, because the cases of a large run are in a file."""
    by_status = {status: array("i") for status in STATUSES}
    for place, result in enumerate(run.cases):
        places = by_status[result.status]
        if len(places) < _MAX_ROWS:
            places.append(place)
    return [place for places in by_status.values() for place in places][:_MAX_ROWS]


def _cells(result: CaseResult, index: int, metrics: dict[str, int]) -> Iterator[Markup]:
    scores = {score.metric: score for score in result.scores}
    name = cut(result.case or result.trace or "(no name)")
    yield tag("td", stamp(result.status))
    yield tag("th", tag("a", breakable(name), href=f"#case-{index}"), scope="row")
    yield from (tag("td", _score(scores.get(metric))) for metric in metrics)


def _score(score: CaseScore | None) -> Markup:
    if score is None:
        return Markup()
    return join([sign(score.status), " ", number(score.value) if score.value is not None else None])


def _not_passed(result: CaseResult, metrics: dict[str, int]) -> str:
    """Return the indices of the metrics that a case did not pass."""
    names = [score.metric for score in result.scores if score.status not in ("passed", "info")]
    return " ".join(str(metrics[name]) for name in names if name in metrics)


def _filters(run: Run, metrics: dict[str, int]) -> Markup:
    """Return the filter form. The style sheet hides it where scripts are disabled."""
    counts = run.summary.cases
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="status", value=status, checked=True),
            f" {status} ({value:,})",
        )
        for status, value in count_statuses(counts).items()
        if value
    ]
    options = [tag("option", name, value=str(index)) for name, index in metrics.items()]
    return tag(
        "form",
        tag("fieldset", tag("legend", "Status"), boxes),
        tag("label", "Metric not passed ", tag("select", tag("option", "any", value=""), options)),
        tag(
            "label",
            "Text ",
            tag("input", type="search", placeholder="case, reason or answer", autocomplete="off"),
        ),
        tag("button", "Reset", type="reset"),
        tag("output", f"{count(counts.total, 'case')}", aria_live="polite", role="status"),
        id="filters",
        role="search",
        aria_label="Filter cases",
    )


def unmatched_section(run: Run) -> Markup | None:
    """Return the traces without a case."""
    if not run.unmatched:
        return None
    rows = [[trace.trace, cut(trace.why)] for trace in run.unmatched[:_MAX_UNMATCHED]]
    left = len(run.unmatched) - _MAX_UNMATCHED
    return join(
        [
            table("Traces without a case", ["trace", "reason"], [[*row] for row in rows]),
            tag("p", f"And {left:,} more.") if left > 0 else None,
        ]
    )
