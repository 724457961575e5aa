"""HTML, SVG and XML that are escaped by construction: text becomes markup only through `tag`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from carob.report.text import printable

_UNWRITABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_VOID = frozenset({"br", "hr", "input", "link", "meta", "wbr"})


class Markup(str):
    """Text that is already escaped."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | float | bool | None"


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element. `class_` becomes `class`, `aria_label` `aria-label`; `None` is omitted."""
    start = start_tag(name, **attributes)
    return start if name in _VOID else Markup(f"{start}{join(children)}</{name}>")


def start_tag(name: str, /, **attributes: Attribute) -> Markup:
    """Return the start of an element whose content is written in parts."""
    return Markup(f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>")


def join(children: Child) -> Markup:
    """Concatenate children, escaping those that are not markup."""
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
        pieces.append(text if plain else _escape_text(text))
    elif child is not None:
        for item in child:
            _collect(item, pieces)


def page_text(text: str) -> str:
    """Replace characters that a page cannot contain; control characters are shown as codes."""
    return _UNWRITABLE.sub("\ufffd", printable(text.replace("\r\n", "\n")))


def _escape_text(text: str) -> str:
    """Escape text. Unlike `html.escape`, this does not import the table of HTML entities."""
    return page_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else f"{value:g}"
    if not (text.isascii() and text.isalnum()):
        text = _escape_text(text).replace('"', "&quot;").replace("'", "&#39;")
    return f' {name}="{text}"'
