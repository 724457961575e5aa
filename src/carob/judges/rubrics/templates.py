"""Templates: words of the user's own with names in braces.

Nothing is formatted into a template. A name in braces is replaced by words that say where in the
material to look, and nothing else in braces means anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from carob.errors import FormatError
from carob.text.spelling import nearest_name

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")
_TRICK = re.compile(r"\{([A-Za-z_]\w*)[.!:\[][^{}]*\}")


class Place(NamedTuple):
    """Where in which definition something is wrong."""

    where: str

    def at(self, key: str) -> Place:
        return Place(f"{self.where}.{key}")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=self.where, hint=hint)


def used(words: str, known: Mapping[str, object], place: Place) -> list[str]:
    """The placeholders of a template, each once; all of them must be known."""
    trick = next((one for one in _TRICK.finditer(words) if one[1] in known), None)
    if trick:
        place.fail(f"{trick[0]!r:.60} is no placeholder", f"only {{{trick[1]}}} is")
    names = dict.fromkeys(one[1] for one in _PLACEHOLDER.finditer(words) if one[1])
    for name in names:
        if name not in known:
            near = nearest_name(name, known)
            hint = f"did you mean {{{near}}}?" if near else f"mapped: {', '.join(known)}"
            place.fail(f"nothing fills {{{name}}}", hint)
    return [*names]


def pointing(words: str, fillings: Mapping[str, str]) -> str:
    """A template with words that point to the material in place of its placeholders."""

    def filled(found: re.Match[str]) -> str:
        return fillings[found[1]] if found[1] else found[0][0]

    return _PLACEHOLDER.sub(filled, words)


def pointer(name: str) -> str:
    return f"(see the part `{name}` of the material)"
