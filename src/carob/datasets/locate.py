"""Line numbers of paths in a JSON text, for messages about a document that is already decoded."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import msgspec

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_SEPARATORS = re.compile(rb"[\s,:]*")
_SCALAR = re.compile(rb"[^\s,\]}]+")
_BRACKET_OR_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def find_lines(data: bytes, paths: Collection[str]) -> dict[str, int]:
    """The line of each path, such as `$.cases[3].id`, or of the closest value that encloses it."""
    if not paths:
        return {}
    walk = _OffsetWalk(data, paths)
    walk.visit(0, "$")
    offsets = {path: find_enclosing(path, walk.offsets) for path in paths}
    lines = _count_lines(data, {offset for offset in offsets.values() if offset is not None})
    return {path: lines[offset] for path, offset in offsets.items() if offset is not None}


def find_enclosing(path: str, offsets: Mapping[str, int]) -> int | None:
    """The offset of a path, or of the closest value that encloses it."""
    ends = reversed([*_parent_ends(path), len(path)])
    return next((offsets[path[:end]] for end in ends if path[:end] in offsets), None)


def _count_lines(data: bytes, offsets: Collection[int]) -> dict[int, int]:
    """The line of each offset, counted in one pass."""
    lines: dict[int, int] = {}
    line, last = 1, 0
    for offset in sorted(offsets):
        line += data.count(b"\n", last, offset)
        lines[offset], last = line, offset
    return lines


class _OffsetWalk:
    """Walks a JSON text and finds the offsets of paths.

    Enters only values that enclose a requested path, and stops after the last one: a problem in the
    first of a million cases does not cost a pass over all of them.
    """

    def __init__(self, data: bytes, paths: Collection[str]) -> None:
        self.data = data
        self.paths = frozenset(paths)
        self.pending = set(paths)
        self.parents = {path[:end] for path in paths for end in _parent_ends(path)}
        self.offsets: dict[str, int] = {}

    def visit(self, at: int, path: str, key_at: int | None = None) -> int:
        """Record the value at `at`, or its key at `key_at`; return where the value ends."""
        at = self._skip_separators(at)
        if path in self.paths or path in self.parents:
            self.offsets[path] = at if key_at is None else key_at
            self.pending.discard(path)
        # Returning the end of the data ends every loop above at once.
        first = self.data[at : at + 1]
        if not self.pending:
            return len(self.data)
        if path not in self.parents or first not in (b"{", b"["):
            return self._skip_value(at)
        return self._visit_object(at + 1, path) if first == b"{" else self._visit_list(at + 1, path)

    def _visit_object(self, at: int, path: str) -> int:
        while (at := self._skip_separators(at)) < len(self.data) and self.data[at : at + 1] != b"}":
            key = _STRING.match(self.data, at)
            if key is None:
                return len(self.data)
            name = msgspec.json.decode(key[0], type=str)
            at = self.visit(key.end(), f"{path}.{name}", key_at=at)
        return at + 1

    def _visit_list(self, at: int, path: str) -> int:
        index = 0
        while (at := self._skip_separators(at)) < len(self.data) and self.data[at : at + 1] != b"]":
            at = self.visit(at, f"{path}[{index}]")
            index += 1
        return at + 1

    def _skip_separators(self, at: int) -> int:
        separators = _SEPARATORS.match(self.data, at)
        return separators.end() if separators else at

    def _skip_value(self, at: int) -> int:
        if self.data[at : at + 1] not in (b"{", b"["):
            token = _STRING.match(self.data, at) or _SCALAR.match(self.data, at)
            return token.end() if token else len(self.data)
        depth = 0
        for token in _BRACKET_OR_STRING.finditer(self.data, at):
            depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
            if depth == 0:
                return token.end()
        return len(self.data)


def _parent_ends(path: str) -> list[int]:
    """The positions in a path at which the paths of its parents end."""
    return [index for index, char in enumerate(path) if char in ".["]
