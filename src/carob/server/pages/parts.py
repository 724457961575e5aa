"""Building blocks that several pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote, urlencode

from carob.report.html.parts import breakable, sign, stamp
from carob.report.markup import Child, Markup, join, tag
from carob.schema import Problem, Status

__all__ = ["sign", "stamp"]
CHUNK = 50
"""Rows of one table body, and what scripts load at once: a little more than a screen shows."""
_MAX_LABEL = 12


def address(*parts: str, **query: str | int | None) -> str:
    """Return an address on this server; empty parameters are left out."""
    path = "/" + "/".join(quote(part, safe="@") for part in parts)
    values = {key.rstrip("_"): value for key, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(values)}" if values else path


def score(value: float | None) -> str:
    """Format a number without the zero before the point."""
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
    text = text.removeprefix("-").removeprefix("0") if abs(value) < 1 else text.removeprefix("-")
    return f"−{text}" if value < 0 else text


def limit(value: float | None) -> str:
    """Format a threshold: exactly, without the zero before the point."""
    if value is None:
        return ""
    return f"{value:g}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:g}"


def p_value(p: float) -> str:
    """Format a p-value; small ones keep a digit that says something."""
    return "< .001" if p < 0.001 else score(p) if p >= 0.01 else f"{p:.3f}".removeprefix("0")


def delta(value: float | None, *, better: str = "higher") -> Markup | str:
    """Format a difference; worse is marked by sign and color."""
    if value is None:
        return ""
    if abs(value) < 0.005:
        return tag("span", "±0", class_="quiet")
    worse = value < 0 if better == "higher" else value > 0
    text = f"{'−' if value < 0 else '+'}{score(abs(value))} {'▼' if value < 0 else '▲'}"
    return tag("span", text, class_="failed" if worse else "passed")


def strip(statuses: Sequence[Status]) -> Markup | None:
    """Return the last verdicts of a case, oldest first; changing ones are called flaky."""
    if not statuses:
        return None
    changes = sum(a != b for a, b in pairwise(statuses))
    marks = [tag("span", _MARKS[status], class_=status, aria_hidden="true") for status in statuses]
    words = ", ".join(statuses)
    flaky = tag("span", " flaky", class_="flaky") if changes >= 3 else None
    label = tag("span", f"last {len(statuses)}: {words}", class_="unseen")
    return tag("span", marks, label, flaky, class_="strip", title=words)


_MARKS: dict[Status, str] = {
    "passed": "✓",
    "failed": "✗",
    "unscored": "–",
    "error": "!",
    "info": "·",
}


def rows_table(
    caption: str,
    head: Sequence[Child],
    rows: Iterable[Markup],
    class_: str = "",
    *,
    total: int | None = None,
    source: str | None = None,
) -> Markup:
    """Return a table of rows in chunks. `head` cells that start with `#` are numbers. If the table
    shows a part of `total` rows, scripts load the others from `source`."""
    cells = [_head_cell(cell) for cell in head]
    all_rows = list(rows)
    bodies = [
        tag("tbody", all_rows[start : start + CHUNK]) for start in range(0, len(all_rows), CHUNK)
    ]
    content = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", tag("tr", cells)),
        bodies,
        class_=class_ or None,
        aria_rowcount=str((total or len(all_rows)) + 1),
        data_rows=source,
        data_total=str(total) if source else None,
    )
    return tag("div", content, class_="scroll", role="region", aria_label=caption, tabindex="0")


def _head_cell(cell: Child) -> Markup:
    if isinstance(cell, str) and cell.startswith("#"):
        return tag("th", breakable(cell[1:]), scope="col", class_="n")
    return tag("th", cell, scope="col") if cell else tag("td")


def filter_form(
    action: str,
    fields: Iterable[Markup],
    hidden: Mapping[str, str | None],
    *,
    region: str | None = None,
    source: str | None = None,
    button: str = "Filter",
) -> Markup:
    """Return a form that puts its fields into the address. With `region`, scripts apply it while
    it is filled in, and replace the element with that id: by that of the whole page, or of
    `source`, which has nothing else."""
    fixed = [
        tag("input", type="hidden", name=name, value=value)
        for name, value in hidden.items()
        if value
    ]
    submit = tag("button", button, type="submit")
    return tag(
        "form",
        fixed,
        fields,
        submit,
        action=action,
        class_="filters",
        role="search" if region else None,
        data_region=region,
        data_source=source,
    )


def choice(
    label: str,
    name: str,
    options: Sequence[tuple[str, str]],
    chosen: str | None,
    *,
    default: str = "any",
) -> Markup:
    """Return a labelled drop-down, in which `default` is the empty value."""
    items = [
        tag("option", text, value=value, selected=(chosen or "") == value)
        for value, text in [("", default), *options]
    ]
    return tag("label", tag("span", label), tag("select", items, name=name))


def text_field(label: str, name: str, value: str | None) -> Markup:
    """Return a labelled search field."""
    field = tag("input", type="search", name=name, value=value or "", dir="auto")
    return tag("label", tag("span", label), field)


def chips(links: Sequence[Markup], shown: int = 6) -> Markup:
    """Return small links; many of them are folded after the first few."""
    spaced: list[Child] = [[link, " "] for link in links]
    if len(links) <= shown + 1:
        return join(spaced)
    more = tag("summary", f"{len(links) - shown:,} more")
    return join([spaced[:shown], tag("details", more, spaced[shown:], class_="more")])


def label_chips(labels: Mapping[str, str]) -> list[Markup]:
    """Return the labels of a run, each a link to the runs that have it."""
    return [
        tag(
            "a",
            f"{name}={value[:_MAX_LABEL]}{'…' if len(value) > _MAX_LABEL else ''}",
            href=address("runs", label=f"{name}={value}"),
            class_="chip",
        )
        for name, value in labels.items()
    ]


def minute(timestamp: str) -> str:
    """Return a time to the minute."""
    return timestamp[:16].replace("T", " ")


def moment(timestamp: str | None) -> Markup | str:
    """Return a time to the minute."""
    if not timestamp:
        return ""
    return tag("time", minute(timestamp), datetime=timestamp, title=f"{timestamp} (UTC)")


def empty(title: str, *content: Child) -> Markup:
    """Return what a page shows while there is nothing to show."""
    return tag("div", tag("h2", title), content, class_="empty")


def commands(*lines: str) -> Markup:
    """Return commands to copy."""
    return tag("pre", tag("code", "\n".join(lines)), tabindex="0", class_="copy")


def post_button(label: Child, action: str, *, key: str | None = None, gold: bool = False) -> Markup:
    """Return a button that posts an empty form."""
    content: list[Child] = [tag("kbd", key) if key else None, label]
    button = tag("button", content, type="submit", data_key=key, class_="gold" if gold else None)
    return tag("form", button, method="post", action=action)


def link_button(
    label: Child, link: str, *, key: str | None = None, gold: bool = False, writes: bool = False
) -> Markup:
    """Return a link that looks like a button. One that leads to a change (`writes`) is hidden from
    those who may only read."""
    content: list[Child] = [tag("kbd", key) if key else None, label]
    classes = ["button", *(["gold"] if gold else []), *(["writes"] if writes else [])]
    return tag("a", content, href=link, data_key=key, class_=" ".join(classes))


def selection_group(everything: str, *controls: Child, command: str | None = None) -> Markup:
    """Return controls for the selected rows of a form with `data-selection`. `everything` says what
    they act on while no row is selected. `--case` arguments are appended to `command`."""
    copy = tag("button", tag("kbd", "Y"), "Copy command", type="button", hidden=True, data_copy="1")
    return tag(
        "div",
        tag(
            "span", "With ", tag("strong", everything, class_="selected", data_none=everything), ":"
        ),
        controls,
        copy if command else None,
        tag("button", "Clear", type="button", hidden=True, data_clear="1"),
        class_="selection actions writes",
        role="group",
        aria_label="Selected rows",
        data_command=command,
    )


def dataset_choice(names: Sequence[str], chosen: str | None = None) -> Markup:
    """Return a drop-down of datasets."""
    options = [tag("option", name, value=name, selected=name == chosen) for name in names]
    return tag("label", tag("span", "dataset"), tag("select", options, name="dataset"))


def problem_list(problems: Iterable[Problem]) -> Markup | None:
    """Return problems with their places and hints; a line is a link into the source text."""
    items = [
        tag(
            "li",
            tag("span", problem.severity, class_=_SEVERITIES.get(problem.severity, "quiet")),
            " ",
            _place(problem.where),
            problem.message,
            tag("small", problem.hint) if problem.hint else None,
            dir="auto",
        )
        for problem in problems
    ]
    return tag("ul", items, class_="problems") if items else None


_SEVERITIES = {"error": "failed", "warning": "flaky"}


def _place(where: str) -> Child:
    line = re.fullmatch(r"line (\d+).*", where)
    if line:
        return [tag("a", where, href="#source", data_line=line[1]), ": "]
    return f"{where}: " if where else None
