"""The JSON values of a file, however they are laid out.

One object, an array, JSON lines, values printed one after the other over several lines, and log
text between them are all read the same way: line by line, gathering lines that are not a complete
value by themselves until their brackets close. So memory holds one value at a time. A binary file
is taken for protobuf and returned as bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from carob.errors import FormatError
from carob.files.opening import (
    GZIP_ERRORS,
    MAX_VALUE,
    InputFile,
    Stream,
    describe_gzip_error,
    open_input,
)
from carob.files.parquet import is_parquet, read_parquet_lines
from carob.schema import Json, Problem
from carob.schema.problem import ProblemListener
from carob.traces.reading.archive import is_archive, open_members
from carob.traces.reading.multipart import is_multipart, read_batch

if TYPE_CHECKING:
    from carob.files.dialect import TableDialect

T = TypeVar("T")

_MAX_PROBLEMS = 20
_AIDER = "not JSON: '# aider chat started"
# A string without an end takes the rest of the line: otherwise each quote in it is tried again,
# and a cut line takes quadratic time.
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?')
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, ValueError)
_decode_json = msgspec.json.Decoder().decode


def read_values(
    path: Path,
    *,
    report: ProblemListener,
    decode: Callable[[bytes], T | Json] = _decode_json,
) -> Iterator[T | Json | bytes]:
    """The JSON values of a file, or the bytes of a binary file.

    `decode` decodes one value and raises `msgspec.DecodeError` for anything but exactly one.
    """
    source = str(path)
    if is_archive(path):
        for member, stream in open_members(path):
            yield from _ValueReader(member, report, decode).read(_lines(stream))
        return
    if is_parquet(path):
        yield from map(_decode_json, read_parquet_lines(path))
        return
    with open_input(path, tolerant=True) as file:
        has_parts = is_multipart(file)
        dialect = None if has_parts else _find_table(file, path)
        if has_parts:
            yield read_batch(_read_all(file.stream, source), source)
        elif dialect is None and file.is_binary:
            yield _read_all(file.stream, source)
        elif dialect is None:
            yield from _ValueReader(source, report, decode).read(_lines(file.stream))
    if dialect is not None:
        from carob.traces.reading.tables import read_table  # late: most files are JSON

        yield from read_table(path, dialect, report)


def read_lines(
    lines: Iterator[bytes],
    *,
    source: str,
    report: ProblemListener,
    decode: Callable[[bytes], T | Json] = _decode_json,
    count_before: Callable[[], int] = int,
) -> Iterator[T | Json]:
    """The JSON values of some lines of a file. `count_before` counts the lines before them, and is
    called only if there is a problem to place."""
    return _ValueReader(source, report, decode, count_before).read(lines)


def is_divisible(path: Path) -> bool:
    """Whether the file is plain JSON text, which can be read from any line on."""
    if is_archive(path) or is_parquet(path):
        return False
    with open_input(path, tolerant=True) as file:
        is_json = file.packing.is_plain and not file.is_binary and not is_multipart(file)
        return is_json and _find_table(file, path) is None


def _find_table(file: InputFile, path: Path) -> TableDialect | None:
    """The dialect of a table; null for any other file."""
    if file.is_binary or file.head.lstrip()[:1] in {b"{", b"["}:
        return None
    from carob.traces.reading.tables import find_table  # late: most files are JSON

    return find_table(file, path)


def _read_all(stream: Stream, source: str) -> bytes:
    data = stream.read(MAX_VALUE + 1)
    if len(data) > MAX_VALUE:
        raise _too_large_error(source)
    return data


def _too_large_error(where: str) -> FormatError:
    return FormatError(
        f"a value of more than {MAX_VALUE >> 20} MiB",
        where=where,
        hint="split the file, or export it as JSON lines",
    )


def _lines(stream: Stream) -> Iterator[bytes]:
    while line := stream.readline(MAX_VALUE):
        yield line


class _ValueReader(Generic[T]):
    """Gathers the lines of one file into values."""

    def __init__(
        self,
        source: str,
        report: ProblemListener,
        decode: Callable[[bytes], T | Json],
        count_before: Callable[[], int] = int,
    ) -> None:
        self.source = source
        self.report = report
        self.decode = decode
        self.count_before = cache(count_before)
        self.line_number = 0
        self.value_count = 0
        self.problems: list[Problem] = []
        self.unlisted_problems = 0
        self._reset()

    def _reset(self) -> None:
        self.gathered: list[bytes] = []
        self.size = 0
        self.depth = 0

    def read(self, lines: Iterator[bytes]) -> Iterator[T | Json]:
        try:
            yield from self._read_lines(lines)
        except GZIP_ERRORS as error:
            self._note(describe_gzip_error(error), self._where())
        if self.gathered:
            yield from self._abandon("the file ends inside a JSON value")
        self._finish()

    def _read_lines(self, lines: Iterator[bytes]) -> Iterator[T | Json]:
        # One loop: a generator for each line would take a tenth of the time of decoding it.
        for line in lines:
            self.line_number += 1
            if len(line) >= MAX_VALUE:
                raise _too_large_error(self._where())
            if self.gathered:
                if not self._starts_next_value(line):
                    yield from self._gather(line)
                    continue
                yield from self._abandon("truncated JSON value")
            if line.isspace() or not line:
                continue
            try:
                value = self.decode(line)
            except RecursionError:
                raise self._too_deep_error() from None
            except _UNREADABLE:
                yield from self._gather(line)
            else:
                self.value_count += 1
                yield value

    def _starts_next_value(self, line: bytes) -> bool:
        """Inside brackets a value never follows another without a comma, as in

            {"a": [2
            {"a": 3}

        so the gathered value was cut, and this line begins the next one.
        """
        if line[:1] not in {b"{", b"["}:
            return False
        before = next((text for text in reversed(self.gathered) if not text.isspace()), b"")
        return before.rstrip()[-1:] not in {b",", b"[", b":"}

    def _gather(self, line: bytes) -> Iterator[T | Json]:
        if not self.gathered and line.lstrip()[:1] not in {b"{", b"[", b'"'}:
            self._note(f"not JSON: {_excerpt(line)!r}", self._where(), "skipped")
            return
        # Brackets inside strings do not count: the text "a [b" would otherwise never close.
        bare = _STRINGS.sub(b"", line)
        self.depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        self.size += len(line)
        if self.size > MAX_VALUE:
            raise _too_large_error(self._where())
        self.gathered.append(line)
        if self.depth <= 0:
            yield from self._complete()

    def _complete(self) -> Iterator[T | Json]:
        """The brackets are closed: one value over several lines, several on one, or broken."""
        raw = b"".join(self.gathered)
        try:
            value = self.decode(raw)
        except RecursionError:
            raise self._too_deep_error() from None
        except _UNREADABLE:
            yield from self._repair(raw)
        else:
            self.value_count += 1
            yield value
        self._reset()

    def _repair(self, raw: bytes) -> Iterator[Json]:
        # Late: it needs the decoder of the standard library, and few files are broken.
        from carob.traces.reading.lenient import DeepError, LenientError, parse_lenient

        try:
            for value, repairs in parse_lenient(raw):
                self.value_count += 1
                for repair in repairs:
                    self._note(repair, self._where(), None)
                yield value
        except DeepError:
            raise self._too_deep_error() from None
        except LenientError as error:
            where = self._where(self._first_line() + error.line - 1)
            yield from self._abandon(error.message, f"{where} column {error.column}")

    def _abandon(self, message: str, where: str | None = None) -> Iterator[Json]:
        """Give up on the gathered lines, except for those that are whole objects."""
        lines, start = self.gathered, self._first_line()
        self._reset()
        self._note(message, where or self._where(start))
        # A value that never closes gathers all lines up to the end of the file. Most of them are
        # whole values of JSON lines, and only the first is broken.
        for line in lines if len(lines) > 1 else []:
            if line.startswith((b"{", b"[{")):
                try:
                    value = msgspec.json.decode(line.strip().removeprefix(b"[").removesuffix(b","))
                except (*_UNREADABLE, RecursionError):
                    continue
                self.value_count += 1
                yield value

    def _note(self, message: str, where: str, hint: str | None = "the rest was read") -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(
                Problem(where=where, message=message, hint=hint, severity="warning")
            )
        else:
            self.unlisted_problems += 1

    def _finish(self) -> None:
        """Report the problems; without a single value, the first of them is the error."""
        if not self.value_count:
            first = self.problems[0] if self.problems else None
            if first and first.message.startswith(_AIDER):
                raise FormatError(
                    "Aider's chat history is not a supported trace container",
                    where=self.source,
                    hint="it is Markdown without the agent's calls; record OpenTelemetry spans",
                )
            raise FormatError(
                first.message if first else "no JSON value",
                where=first.where if first else self.source,
                hint="expected JSON, JSON lines or OTLP protobuf",
            )
        for problem in self.problems:
            self.report(problem)
        if self.unlisted_problems:
            message = f"{self.unlisted_problems} more problems of this kind"
            self.report(Problem(where=self.source, message=message, severity="warning"))

    def _first_line(self) -> int:
        return self.line_number - max(len(self.gathered) - 1, 0)

    def _where(self, line: int | None = None) -> str:
        number = self.line_number if line is None else line
        return f"{self.source} line {self.count_before() + number}"

    def _too_deep_error(self) -> FormatError:
        return FormatError(
            "JSON nested too deeply",
            where=self._where(self._first_line()),
            hint="the limit is about a thousand levels",
        )


def _excerpt(line: bytes) -> str:
    return line.strip()[:40].decode("utf-8", "replace")
