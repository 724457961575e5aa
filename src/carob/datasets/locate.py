"""The lines of places in a JSON text, for messages about a document that is decoded already."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BLANK = re.compile(rb"[\s,:]*")
_SCALAR = re.compile(rb"[^\s,\]}]+")
_BRACKET_OR_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def lines(data: bytes, places: Collection[str]) -> dict[str, int]:
    """The line of each place, such as `$.cases[3].id`, or of the nearest value around it."""
    if not places:
        return {}
    offsets = _Offsets(data, places)
    offsets.visit(0, "$")
    around = {place: _around(place, offsets.found) for place in places}
    numbered = _numbered(data, {offset for offset in around.values() if offset is not None})
    return {place: numbered[offset] for place, offset in around.items() if offset is not None}


def _around(place: str, found: dict[str, int]) -> int | None:
    ends = reversed([*_ends(place), len(place)])
    return next((found[place[:end]] for end in ends if place[:end] in found), None)


def _numbered(data: bytes, offsets: Collection[int]) -> dict[int, int]:
    """The line of each offset, counted in one pass."""
    numbered: dict[int, int] = {}
    line, last = 1, 0
    for offset in sorted(offsets):
        line += data.count(b"\n", last, offset)
        numbered[offset], last = line, offset
    return numbered


class _Offsets:
    """A walk through a JSON text that goes only into values on the way to a wanted place."""

    def __init__(self, data: bytes, places: Collection[str]) -> None:
        self.data = data
        self.places = frozenset(places)
        self.left = set(places)
        self.ways = {place[:end] for place in places for end in _ends(place)}
        self.found: dict[str, int] = {}

    def visit(self, at: int, place: str, start: int | None = None) -> int:
        """Note the value at `at`, or its key at `start`; return where it ends."""
        at = self._blank(at)
        if place in self.places or place in self.ways:
            self.found[place] = at if start is None else start
            self.left.discard(place)
        head = self.data[at : at + 1]
        if not self.left:
            return len(self.data)
        if place not in self.ways or head not in (b"{", b"["):
            return self._skip(at)
        return self._members(at + 1, place) if head == b"{" else self._elements(at + 1, place)

    def _members(self, at: int, place: str) -> int:
        while (at := self._blank(at)) < len(self.data) and self.data[at : at + 1] != b"}":
            key = _STRING.match(self.data, at)
            if key is None:
                return len(self.data)
            name = msgspec.json.decode(key[0], type=str)
            at = self.visit(key.end(), f"{place}.{name}", start=at)
        return at + 1

    def _elements(self, at: int, place: str) -> int:
        index = 0
        while (at := self._blank(at)) < len(self.data) and self.data[at : at + 1] != b"]":
            at = self.visit(at, f"{place}[{index}]")
            index += 1
        return at + 1

    def _blank(self, at: int) -> int:
        blank = _BLANK.match(self.data, at)
        return blank.end() if blank else at

    def _skip(self, at: int) -> int:
        if self.data[at : at + 1] not in (b"{", b"["):
            token = _STRING.match(self.data, at) or _SCALAR.match(self.data, at)
            return token.end() if token else len(self.data)
        depth = 0
        for token in _BRACKET_OR_STRING.finditer(self.data, at):
            depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
            if depth == 0:
                return token.end()
        return len(self.data)


def _ends(place: str) -> list[int]:
    """Where a place's containers end within its text."""
    return [index for index, char in enumerate(place) if char in ".["]
