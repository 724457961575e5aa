"""HTML, SVG and XML that are escaped by construction: a text becomes markup only through here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from carob.report.text import printable

_UNWRITABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_VOID = frozenset({"br", "hr", "input", "link", "meta", "wbr"})


class Markup(str):
    """A piece of a page that is written as it is."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | float | bool | None"


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. `class_` is `class`, `aria_label` is `aria-label`; no value, no attribute."""
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Pieces one after the other; what is not markup yet is text."""
    if isinstance(children, Markup):
        return children
    pieces: list[str] = []
    _collect(children, pieces)
    return Markup("".join(pieces))


def _collect(child: Child, pieces: list[str]) -> None:
    if isinstance(child, Markup):
        pieces.append(child)
    elif isinstance(child, str | int):
        text = str(child)
        plain = text.isascii() and text.isalnum()
        pieces.append(text if plain else _escaped(text))
    elif child is not None:
        for one in child:
            _collect(one, pieces)


def shown(text: str) -> str:
    """The text without what a page cannot hold or would obey: controls are shown by their codes."""
    return _UNWRITABLE.sub("\ufffd", printable(text.replace("\r\n", "\n")))


def _escaped(text: str) -> str:
    """As the standard library does, whose module of HTML brings all of its names along."""
    return shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else f"{value:g}"
    if not (text.isascii() and text.isalnum()):
        text = _escaped(text).replace('"', "&quot;").replace("'", "&#39;")
    return f' {name}="{text}"'
