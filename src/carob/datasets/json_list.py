"""Split a large JSON document into the items of its list, without decoding it as a whole.

A golden document is a list of cases, or an object with a list of cases among its members. Each item
is decoded once to check it, and then kept as text in a scratch file, where it can be read again in
any order. What is laid out in another way, or is not valid, is left to the ordinary decoder, whose
errors name the line and the mistake.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import BinaryIO, NamedTuple, cast

import msgspec

from carob.datasets import locate
from carob.files.lines import ROW_LIMIT
from carob.files.opening import Stream
from carob.files.scratch import make_scratch_folder, remove_folder
from carob.files.spool import SpooledSequence, SpoolFile
from carob.schema import Json
from carob.schema.codec import BytesCodec

LONG = 1 << 20
"""Bytes of a list that is kept in a file."""
SAMPLE = 1000
"""Items that are decoded with the rest of the document, to detect its format."""
_BLOCK = 1 << 20
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)$")
_SPACE = re.compile(rb"[ \t\r\n]*")


class JsonList(NamedTuple):
    """A document with one long list, which is in a file."""

    document: Json
    """The document with the first items of the list only."""
    key: str | None
    """The member that is the list; `None` if the document is."""
    items: Sequence[bytes]
    lines: Sequence[int]
    """The line on which each item starts."""
    frame: bytes
    """The text of the document with an empty list."""
    list_line: int
    skipped_lines: int
    """Line breaks between the brackets of the list."""

    def find_lines(self, paths: Collection[str]) -> dict[str, int]:
        """The line of each path, or of the closest value that encloses it."""
        item = re.compile(rf"\${'' if self.key is None else re.escape(f'.{self.key}')}\[(\d+)\]")
        by_item: dict[int, list[tuple[str, str]]] = {}
        others: list[str] = []
        for path in paths:
            match = item.match(path)
            if match and int(match[1]) < len(self.items):
                inner = "$" + path[match.end() :]
                by_item.setdefault(int(match[1]), []).append((path, inner))
            else:
                others.append(path)
        lines = locate.find_lines(self.frame, others)
        for path, line in lines.items():
            lines[path] = line + self.skipped_lines * (line > self.list_line)
        for index, pairs in by_item.items():
            inside = locate.find_lines(self.items[index], [inner for _, inner in pairs])
            start = self.lines[index] - 1
            lines |= {path: start + inside[inner] for path, inner in pairs if inner in inside}
        return lines


class OtherLayoutError(Exception):
    """The document has to be decoded as a whole."""


def split_list(stream: Stream) -> JsonList | None:
    """Split the document in a stream. Returns `None` if it does not have exactly one long list."""
    splitter = _Splitter(stream)
    try:
        return splitter.split()
    except (OtherLayoutError, UnicodeDecodeError, RecursionError):
        splitter.discard()
        return None


class JsonScanner:
    """Reads a stream of JSON in blocks. Everything before `_at` is done with."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data, self._at, self._ended = b"", 0, False
        self._line = 1
        self._frame: list[bytes] | None = None
        """The text so far, if it is needed."""

    def read_members(self) -> Iterator[str]:
        """Yield the keys of an object. After each, the caller reads the value."""
        self.expect(b"{")
        is_first = True
        while self.peek() != b"}":
            if not is_first:
                self.expect(b",")
            is_first = False
            if self.peek() != b'"':
                raise OtherLayoutError
            key = cast("str", msgspec.json.decode(self.read_value()))
            self.expect(b":")
            self.peek()
            yield key
        self.expect(b"}")

    def read_items(self) -> Iterator[tuple[int, bytes]]:
        """The items of a list, each with its line."""
        is_first = True
        while self.peek() != b"]":
            if not is_first:
                self.expect(b",")
                self.peek()
            is_first = False
            yield self._line, self.read_value()

    def read_value(self) -> bytes:
        """Read one value, which must be followed by something else.

        The decoder finds its end: it complains about the first byte after it, counted from 1.
        """
        while True:
            try:
                msgspec.json.decode(memoryview(self._data)[self._at :])
            except msgspec.DecodeError as error:
                trailing = _TRAILING.search(str(error))
                if trailing:
                    return self._consume(int(trailing[1]) - 1).rstrip()
            # The block ends within the value, or right after it: a number may go on.
            self._read_block()

    def expect(self, text: bytes) -> None:
        if self.peek() != text:
            raise OtherLayoutError
        self._consume(1)

    def peek(self) -> bytes:
        """The next byte that is not white space; nothing at the end."""
        while True:
            space = _SPACE.match(self._data, self._at)
            if space and space.end() > self._at:
                self._consume(space.end() - self._at)
            if self._at < len(self._data) or self._ended:
                return self._data[self._at : self._at + 1]
            self._read_block()

    def _consume(self, size: int) -> bytes:
        text = self._data[self._at : self._at + size]
        self._at += size
        self._line += text.count(b"\n")
        if self._frame is not None:
            self._frame.append(text)
        return text

    def _read_block(self) -> None:
        rest = self._data[self._at :]
        if self._ended or len(rest) > ROW_LIMIT:
            raise OtherLayoutError
        # As much again as there is, so that a large item is not tried for every block of it.
        block = self._stream.read(max(_BLOCK, len(rest)))
        self._ended = not block
        self._data, self._at = rest + block, 0


class _Splitter(JsonScanner):
    """Splits one document. Within the long list, its text is not kept."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._frame = []
        self._list: tuple[str | None, SpoolFile] | None = None
        self._lines = array("Q")
        self._list_line = self._skipped = 0

    def split(self) -> JsonList:
        document = self._read_list(None) if self.peek() == b"[" else self._read_object()
        if self.peek() or self._list is None:
            raise OtherLayoutError
        key, file = self._list
        items = SpooledSequence(file.close(), BytesCodec(), owned=True)
        frame = b"".join(self._frame or ())
        return JsonList(document, key, items, self._lines, frame, self._list_line, self._skipped)

    def discard(self) -> None:
        """Remove the file of the items."""
        if self._list:
            remove_folder(self._list[1].close().parent)

    def _read_object(self) -> Json:
        members: dict[str, Json] = {}
        for key in self.read_members():
            if key in members:
                raise OtherLayoutError
            is_list = self.peek() == b"["
            members[key] = (
                self._read_list(key) if is_list else msgspec.json.decode(self.read_value())
            )
        return members

    def _read_list(self, key: str | None) -> Json:
        """Read a list. Once its text is long, its items go to a file and not into the frame."""
        line = self._line
        self.expect(b"[")
        frame = self._frame or []
        mark, size, file = len(frame), 0, None
        short: list[bytes] = []
        lines = array("Q")
        for start, item in self.read_items():
            size += len(item)
            lines.append(start)
            if file:
                file.append(item)
                continue
            short.append(item)
            if size > LONG:
                if self._list:
                    raise OtherLayoutError
                file = SpoolFile(make_scratch_folder() / "items")
                self._list, self._frame = (key, file), None
                for text in short:
                    file.append(text)
        if file:
            del frame[mark:]
            self._frame, self._lines = frame, lines
            self._list_line, self._skipped = line, self._line - line
        self.expect(b"]")
        return [msgspec.json.decode(text) for text in (short[:SAMPLE] if file else short)]
