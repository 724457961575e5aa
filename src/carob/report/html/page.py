"""The whole page: head, header, sections."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib import resources

from carob.report.html.cases import case_section, unmatched_section
from carob.report.html.changes import flip_section
from carob.report.html.figures import chart_section
from carob.report.html.parts import STATUSES, stamp
from carob.report.html.summary import summary_section
from carob.report.markup import Markup, join, tag
from carob.schema import Run
from carob.schema.comparison import Comparison
from carob.schema.history import RunEntry


def page(
    run: Run, *, earlier: Sequence[RunEntry] = (), comparison: Comparison | None = None
) -> str:
    """The report of a run. With earlier runs it has trends; with a comparison, what changed."""
    sections = {
        "summary": ("Summary", summary_section(run)),
        "changes": ("Changes", flip_section(comparison, run) if comparison else None),
        "charts": ("Charts", chart_section(run, earlier)),
        "cases": ("Cases", case_section(run)),
        "unmatched": ("Unmatched traces", unmatched_section(run)),
    }
    shown = [(id, title, content) for id, (title, content) in sections.items() if content]
    body = tag(
        "body",
        tag("a", "Skip to the cases", href="#cases", class_="skip"),
        _header(run),
        tag(
            "nav",
            tag("ul", [tag("li", tag("a", title, href=f"#{id}")) for id, title, _ in shown]),
            aria_label="Sections",
        ),
        tag("main", [_section(*one) for one in shown]),
        tag("footer", tag("p", f"Written by Carob from run {run.id}.")),
        Markup(f"<script>{_asset('report.js')}</script>"),
    )
    return f"<!doctype html>\n{tag('html', _head(run), body, lang='en')}\n"


def _section(id: str, title: str, content: Markup) -> Markup:
    heading = tag("h2", title, id=f"{id}-title")
    return tag("section", heading, content, id=id, aria_labelledby=f"{id}-title", tabindex="-1")


def _head(run: Run) -> Markup:
    name = run.dataset.name if run.dataset else run.id
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{run.verdict}: {name} – Carob"),
        tag("link", rel="icon", href="data:,"),
        Markup(f"<style>{_asset('report.css')}</style>"),
    )


@cache
def _policy() -> str:
    """Nothing is loaded from anywhere, and nothing runs but our own style and script."""
    own = f"script-src '{_hash('report.js')}'; style-src '{_hash('report.css')}'"
    return f"default-src 'none'; {own}; img-src data:; base-uri 'none'; form-action 'none'"


def _hash(name: str) -> str:
    return f"sha256-{b64encode(sha256(_asset(name).encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (resources.files("carob.report.html") / name).read_text("utf-8")


def _header(run: Run) -> Markup:
    return tag(
        "header",
        tag("p", "Carob · evaluation report", class_="kicker"),
        tag("h1", stamp(run.verdict), " ", join(_title(run))),
        tag(
            "p",
            "Run ",
            tag("code", run.id),
            ", ",
            tag("time", run.created_at.replace("T", " "), datetime=run.created_at),
            class_="subtitle",
        ),
    )


def _title(run: Run) -> Iterator[str]:
    if run.dataset:
        yield run.dataset.name
        yield f"@{run.dataset.version}" if run.dataset.version else ""
        yield ": "
    counts = run.summary.cases
    numbers = (counts.failed, counts.errors, counts.unscored, counts.passed)
    parts = [
        f"{number:,} {STATUSES[status].words}"
        for status, number in zip(STATUSES, numbers, strict=True)
        if number
    ]
    yield f"{', '.join(parts) or 'nothing was scored'} of {counts.total:,}"
