"""A file → the stream of JSON values in it, whatever its packing.

One object, an array, JSON lines, values printed one after the other over several lines, and text
between them are all the same to the reader: it goes line by line, and lines that are no complete
value by themselves are gathered until their brackets close. So memory holds one value at a time.
What is not text is protobuf, and is handed on as bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import msgspec

from carob.errors import FormatError, InputError
from carob.files.atomic import check_regular
from carob.schema import Json, Problem
from carob.schema.problem import ProblemListener
from carob.traces.reading.lenient import BrokenError, DeepError, lenient

MAX_VALUE = 512 * 1024 * 1024
"""The largest JSON value that is read, in bytes after decompression."""

T = TypeVar("T")

_HEAD = 4096
_MAX_PROBLEMS = 20
# A string without an end takes the rest of the line: else each quote in it would be tried again.
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?')
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = {
    b"PAR1": ("a Parquet file", "export it as JSON lines"),
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"\x28\xb5\x2f\xfd": ("zstd data", "unpack it first"),
    b"SQLite": ("an SQLite database", "export it as JSON lines"),
}
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, ValueError)
_COLUMNS = frozenset({b"session_trace", b"user_inputs"})
_json = msgspec.json.Decoder().decode
_CUT = "the file ends inside a JSON value"


def values(
    path: str | Path,
    *,
    report: ProblemListener,
    decode: Callable[[bytes], T | Json] = _json,
) -> Iterator[T | Json | bytes]:
    """The JSON values of a file, or the bytes of a file that is not text.

    `decode` reads one value and raises `msgspec.DecodeError` for what is not exactly one.
    """
    source = str(path)
    with _opened(Path(path)) as file:
        try:
            head = file.read(_HEAD)
            if not head:
                raise InputError("the file is empty", where=source)
            if head.startswith(_UTF16):
                yield from _Reader(source, report, decode).read(_utf16_lines(file))
            elif _is_table(head):
                yield from _rows(file, source)
            elif _CONTROL.search(head):
                yield _binary(head, file, source)
            else:
                yield from _Reader(source, report, decode).read(_lines(head, file))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"broken gzip data: {error}", where=source) from error
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", where=source) from error


def values_in(
    lines: Iterator[bytes],
    *,
    source: str,
    report: ProblemListener,
    decode: Callable[[bytes], T | Json] = _json,
    before: int = 0,
) -> Iterator[T | Json]:
    """The JSON values of some lines of a file, which has `before` lines ahead of them."""
    return _Reader(source, report, decode, before).read(lines)


def is_plain(path: Path) -> bool:
    """Whether the file is JSON text that can be read from any line on."""
    with _opened(path) as file:
        if isinstance(file, _Unzipped):  # broken data is for `values` to tell
            return False
        head = file.read(_HEAD)
        return (
            bool(head)
            and not head.startswith(_UTF16)
            and not _is_table(head)
            and not _CONTROL.search(head)
        )


def _opened(path: Path) -> _File:
    """The file, decompressed if it is compressed; refuses what could block or is no file."""
    check_regular(path)
    try:
        file = path.open("rb")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(path)) from error
    magic = file.read(2)
    file.seek(0)
    return _Unzipped(file) if magic == b"\x1f\x8b" else file


class _Unzipped(gzip.GzipFile):
    """Gzip data from an open file, which is closed with it."""

    def __init__(self, file: io.BufferedReader) -> None:
        super().__init__(fileobj=file)
        self.packed = file

    def close(self) -> None:
        super().close()
        self.packed.close()


_File: TypeAlias = io.BufferedReader | _Unzipped


def _binary(head: bytes, file: _File, source: str) -> bytes:
    for magic, (what, hint) in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"is {what}", where=source, hint=hint)
    raw = head + file.read(MAX_VALUE)
    if len(raw) > MAX_VALUE:
        raise _too_large(source)
    return raw


def _too_large(where: str) -> FormatError:
    return FormatError(
        f"one value is larger than {MAX_VALUE // 1024**2} MiB",
        where=where,
        hint="split the file, or export it as JSON lines",
    )


def _lines(head: bytes, file: _File) -> Iterator[bytes]:
    known = head.removeprefix(_BOM).split(b"\n")
    yield from known[:-1]
    line = known[-1] + file.readline(MAX_VALUE)
    while line:
        yield line
        line = file.readline(MAX_VALUE)


def _is_table(head: bytes) -> bool:
    """A CSV file of the simulation table: recognised by the columns in its first line."""
    columns = head.removeprefix(_BOM).split(b"\n")[0].split(b",")
    return not _COLUMNS.isdisjoint(column.strip(b' "\r') for column in columns)


def _rows(file: _File, source: str) -> Iterator[Json]:
    file.seek(0)
    csv.field_size_limit(MAX_VALUE)
    content = io.TextIOWrapper(file, "utf-8-sig", errors="replace", newline="")
    reader = csv.DictReader(content)
    try:
        for row in reader:
            yield {key: cell for key, cell in row.items() if key and cell}
    except csv.Error as error:
        raise FormatError(str(error), where=f"{source} line {reader.line_num}") from error
    finally:
        content.detach()


def _utf16_lines(file: _File) -> Iterator[bytes]:
    """What a Windows shell writes when it redirects output."""
    file.seek(0)
    reader = io.TextIOWrapper(file, encoding="utf-16", errors="replace")
    try:
        while line := reader.readline(MAX_VALUE):
            yield line.encode("utf-8", "replace")
    finally:
        reader.detach()


class _Reader(Generic[T]):
    """The state between the lines of one file."""

    def __init__(
        self,
        source: str,
        report: ProblemListener,
        decode: Callable[[bytes], T | Json],
        before: int = 0,
    ) -> None:
        self.source = source
        self.report = report
        self.decode = decode
        self.number = before
        self.found = 0
        self.problems: list[Problem] = []
        self.more = 0
        self._reset()

    def _reset(self) -> None:
        self.gathered: list[bytes] = []
        self.size = 0
        self.depth = 0

    def read(self, lines: Iterator[bytes]) -> Iterator[T | Json]:
        try:
            for line in lines:
                self.number += 1
                if len(line) >= MAX_VALUE:
                    raise _too_large(self._where())
                yield from self._add(line)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._note(f"broken gzip data: {error}", self._where())
        if self.gathered:
            yield from self._abandon(_CUT)
        self._finish()

    def _add(self, line: bytes) -> Iterator[T | Json]:
        if self.gathered:
            if self._is_out_of_place(line):
                yield from self._abandon("a JSON value is cut")
            else:
                yield from self._gather(line)
                return
        if line.isspace() or not line:
            return
        try:
            value = self.decode(line)
        except RecursionError:
            raise self._too_deep() from None
        except _UNREADABLE:
            yield from self._gather(line)
        else:
            self.found += 1
            yield value

    def _is_out_of_place(self, line: bytes) -> bool:
        """Inside brackets a value never follows another without a comma: the first one was cut."""
        if line[:1] not in {b"{", b"["}:
            return False
        before = next((held for held in reversed(self.gathered) if not held.isspace()), b"")
        return before.rstrip()[-1:] not in {b",", b"[", b":"}

    def _gather(self, line: bytes) -> Iterator[T | Json]:
        if not self.gathered and line.lstrip()[:1] not in {b"{", b"[", b'"'}:
            self._note(f"no JSON, but {_excerpt(line)!r}", self._where(), "left out")
            return
        bare = _STRINGS.sub(b"", line)
        self.depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        self.size += len(line)
        if self.size > MAX_VALUE:
            raise _too_large(self._where())
        self.gathered.append(line)
        if self.depth <= 0:
            yield from self._complete()

    def _complete(self) -> Iterator[T | Json]:
        """The brackets are closed: one value over several lines, several on one, or broken."""
        raw = b"\n".join(self.gathered)
        try:
            value = self.decode(raw)
        except RecursionError:
            raise self._too_deep() from None
        except _UNREADABLE:
            yield from self._leniently(raw)
        else:
            self.found += 1
            yield value
        self._reset()

    def _leniently(self, raw: bytes) -> Iterator[Json]:
        try:
            for value, repairs in lenient(raw):
                self.found += 1
                for repair in repairs:
                    self._note(repair, self._where(), None)
                yield value
        except DeepError:
            raise self._too_deep() from None
        except BrokenError as error:
            line = self._start() + error.line - 1
            where = f"{self.source} line {line} column {error.column}"
            yield from self._abandon(error.message, where)

    def _abandon(self, message: str, where: str | None = None) -> Iterator[Json]:
        """Give up on what is gathered, except for the lines of it that are whole objects."""
        lines, start = self.gathered, self._start()
        self._reset()
        self._note(message, where or f"{self.source} line {start}")
        for line in lines if len(lines) > 1 else []:
            if line.startswith((b"{", b"[{")):
                try:
                    value = msgspec.json.decode(line.strip().removeprefix(b"[").removesuffix(b","))
                except (*_UNREADABLE, RecursionError):
                    continue
                self.found += 1
                yield value

    def _note(self, message: str, where: str, hint: str | None = "the rest was read") -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(
                Problem(where=where, message=message, hint=hint, severity="warning")
            )
        else:
            self.more += 1

    def _finish(self) -> None:
        if not self.found:
            first = self.problems[0] if self.problems else None
            raise FormatError(
                first.message if first else "no JSON value, only white space",
                where=first.where if first else self.source,
                hint="expected JSON, JSON lines or OTLP protobuf",
            )
        for problem in self.problems:
            self.report(problem)
        if self.more:
            self.report(
                Problem(
                    where=self.source,
                    message=f"{self.more} more problems of this kind",
                    severity="warning",
                )
            )

    def _start(self) -> int:
        return self.number - max(len(self.gathered) - 1, 0)

    def _where(self) -> str:
        return f"{self.source} line {self.number}"

    def _too_deep(self) -> FormatError:
        return FormatError(
            "a JSON value is nested too deeply",
            where=f"{self.source} line {self._start()}",
            hint="more than a thousand levels are not read",
        )


def _excerpt(line: bytes) -> str:
    return line.strip()[:40].decode("utf-8", "replace")
