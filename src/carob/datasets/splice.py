"""Edit a JSON text: change values and add members, and change no other byte.

Decoding and encoding a document again would change its layout, its numbers (`1.50`) and its escapes
everywhere, and a review of one case would show up in git as an edit of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from carob.datasets.patch import same
from carob.schema import Json

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


class _Edit(NamedTuple):
    start: int
    end: int
    text: bytes


class _Member(NamedTuple):
    """A member of an object or an element of a list, which has no key, by offsets."""

    key: bytes
    start: int
    """Of the key, if there is one."""
    value: int
    end: int


def splice_json(data: bytes, new: Json) -> bytes | None:
    """The text with the values of `new`. `None` if the text is not JSON, or if the edit is not a
    matter of single values."""
    try:
        old: Json = msgspec.json.decode(data)
        first = _TOKEN.search(data)
        edits = sorted(_edit(data, first.start() if first else 0, len(data.rstrip()), old, new))
        parts: list[bytes] = []
        position = 0
        for edit in edits:
            parts += [data[position : edit.start], edit.text]
            position = edit.end
        edited = b"".join([*parts, data[position:]])
        return edited if msgspec.json.decode(edited) == new else None
    except (ValueError, RecursionError):
        return None


def _edit(data: bytes, start: int, end: int, old: Json, new: Json) -> Iterator[_Edit]:
    if same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() <= new.keys():
        yield from _edit_object(data, start, old, new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for member, before, after in zip(_members(data, start), old, new, strict=True):
            yield from _edit(data, member.value, member.end, before, after)
    else:
        yield _Edit(start, end, _JsonLayout.of(data, start, [*_members(data, start)]).encode(new))


def _edit_object(
    data: bytes, start: int, old: dict[str, Json], new: dict[str, Json]
) -> Iterator[_Edit]:
    members = [*_members(data, start)]
    for member in members:
        key = msgspec.json.decode(member.key, type=str)
        yield from _edit(data, member.value, member.end, old[key], new[key])
    added = {key: value for key, value in new.items() if key not in old}
    if not added:
        return
    layout = _JsonLayout.of(data, start, members)
    texts = [
        msgspec.json.encode(key) + layout.colon + layout.encode(value)
        for key, value in added.items()
    ]
    if members:
        end = members[-1].end
        yield _Edit(end, end, b"".join(layout.separator + text for text in texts))
    else:
        close = data.index(b"}", start)
        yield _Edit(start, close, b"{" + layout.separator.join(texts))


class _JsonLayout(NamedTuple):
    """How the members of an object are written."""

    separator: bytes
    colon: bytes
    unit: bytes
    """What each level of indentation adds; empty if everything is on one line."""

    @classmethod
    def of(cls, data: bytes, start: int, members: list[_Member]) -> _JsonLayout:
        """The layout of the object that starts at an offset, or of its surroundings."""
        colon = _colon(data, members)
        if not members:
            return cls(b", ", colon, b"")
        lead = data[start + 1 : members[0].start]
        closing = re.compile(rb"\s*").match(data, members[-1].end)
        unit = b""
        if b"\n" in lead and closing:
            unit = lead.rpartition(b"\n")[2].removeprefix(closing[0].rpartition(b"\n")[2])
        space = b" " if colon.endswith(b" ") else b""
        return cls(b"," + (lead if b"\n" in lead else space), colon, unit)

    def encode(self, value: Json) -> bytes:
        """A value in this layout."""
        text = msgspec.json.encode(value)
        if not isinstance(value, dict | list) or not value:
            return text
        if not self.unit:
            return msgspec.json.format(text, indent=0) if self.colon.endswith(b" ") else text
        lines = msgspec.json.format(text, indent=1).split(b"\n")
        lead = self.separator[1:]
        indented = [
            self.unit * (len(line) - len(bare)) + bare
            for line in lines
            if (bare := line.lstrip(b" "))
        ]
        return lead.join(indented)


def _colon(data: bytes, members: list[_Member]) -> bytes:
    if members and members[0].key:
        first = members[0]
        return data[first.start + len(first.key) : first.value]
    return b": "


def _members(data: bytes, start: int) -> Iterator[_Member]:
    """The members of the object or the elements of the list that starts at an offset; none for any
    other value."""
    if data[start : start + 1] not in (b"{", b"["):
        return
    is_object = data[start : start + 1] == b"{"
    depth = 0
    key, begin, value, end = b"", -1, -1, -1
    for token in _TOKEN.finditer(data, start):
        text = token[0]
        if depth == 1 and text in (b",", b"}", b"]"):
            if value >= 0:
                yield _Member(key, begin, value, end)
            key, begin, value = b"", -1, -1
        elif depth == 1 and text == b":" and is_object:
            value = -1
        elif depth == 1 and is_object and not key:
            key, begin = text, token.start()
        elif depth == 1 and value < 0:
            value = token.start()
            begin = begin if is_object else value
        depth += (text in (b"{", b"[")) - (text in (b"}", b"]"))
        end = token.end()
        if depth == 0:
            return
