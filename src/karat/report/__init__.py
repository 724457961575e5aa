"""Results in the form that somebody wants to read them in. Renders only."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


def render(result: object, form: str, text: Callable[[], str]) -> str:
    """A result as one JSON document, or as text for a person."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    return text()
