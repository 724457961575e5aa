"""Results in the form that somebody wants to read them in. Renders only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


def render(result: object, form: str, forms: Mapping[str, Callable[[], str]]) -> str:
    """A result as one JSON document, or in another form that is made for it."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"
    return forms[form]()
