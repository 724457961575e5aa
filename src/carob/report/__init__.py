"""Results as text, JSON, CSV, Markdown, JUnit, SARIF and HTML. Renders only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


def render(result: object, form: str, forms: Mapping[str, Callable[[], str]]) -> str:
    """Return a result as one JSON document, or in one of the other `forms`."""
    return format_json(result) if form == "json" else forms[form]()


def format_json(result: object) -> str:
    """Return a result as one indented JSON document."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
