"""Tables for notebooks, which show an object by its `_repr_html_`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SHOWN_ROWS = 20


def html_table(title: str, columns: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    """A table with a title. Only the first rows are shown, and all texts are escaped."""
    from html import escape  # late: its table of entities is large, and only notebooks need it

    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in rows[:SHOWN_ROWS]
    )
    more = f"<p>{len(rows) - SHOWN_ROWS} more</p>" if len(rows) > SHOWN_ROWS else ""
    return (
        f"<p><b>{escape(title)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
