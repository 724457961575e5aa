"""Open a file for reading, however it is packed: gzip, a byte order mark, UTF-16 or UTF-32.

Datasets and traces are opened here and nowhere else, so that the same bytes are read, or refused
with the same message, by every command.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import stat
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from carob.errors import EmptyFileError, InputError, UnknownFormatError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

UTF8_BOM = b"\xef\xbb\xbf"
GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
SAVE_AS_UTF8 = "save the file as UTF-8"
MAX_VALUE = 512 * 2**20
"""The largest JSON value that is read, in bytes after decompression: it is decoded as a whole."""

_GZIP = b"\x1f\x8b"
_SAFE_SIZE = 64 * 2**20
_MAX_RATIO = 200
"""Traces compress about 10 to 40 times; gzip cannot exceed 1032."""
_HEAD = 64 * 2**10
_BLOCK = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_PLAIN_BYTES = 4096
# UTF-32 comes first: its little-endian mark begins with the one of UTF-16.
_ENCODINGS = {
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
    UTF8_BOM: "utf-8",
}
_EXPORT = "export it as JSON lines or CSV"
_UNPACK = "unpack it first"
_FOREIGN = {
    b"PAR1": ("a Parquet file", _EXPORT),
    b"ARROW1": ("an Arrow file", _EXPORT),
    b"Obj\x01": ("an Avro file", _EXPORT),
    b"SQLite format 3": ("an SQLite database", _EXPORT),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", "save the sheet as CSV"),
    b"PK\x03\x04": ("a zip archive", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("zstd data", _UNPACK),
    b"\xfd7zXZ\0": ("xz data", _UNPACK),
    b"BZh": ("bzip2 data", _UNPACK),
}
_XLSX = b"[Content_Types].xml"

Stream: TypeAlias = io.BufferedReader


class Packing(NamedTuple):
    """How the text of a file is packed."""

    is_gzip: bool = False
    bom: bytes = b""
    encoding: str = "utf-8"

    @property
    def is_plain(self) -> bool:
        """Whether the file holds UTF-8 as it is, so that a part of it can be read by offset."""
        return not self.is_gzip and self.encoding == "utf-8"

    def pack(self, text: bytes) -> bytes:
        """The bytes of a file that is packed like this and holds a UTF-8 text."""
        encoded = text if self.encoding == "utf-8" else text.decode().encode(self.encoding)
        packed = self.bom + encoded
        return gzip.compress(packed, mtime=0) if self.is_gzip else packed


class InputFile(NamedTuple):
    """An open file. Its stream gives UTF-8 without a byte order mark, or binary data as it is."""

    stream: Stream
    head: bytes
    """The first 64 KiB of the stream."""
    packing: Packing

    @property
    def is_binary(self) -> bool:
        """Whether the file begins with bytes that no text has."""
        return _CONTROL.search(self.head, 0, _PLAIN_BYTES) is not None

    def rewind(self) -> None:
        """Go back to the start of the text."""
        bom = self.packing.bom if self.packing.encoding == "utf-8" else b""
        self.stream.seek(len(bom))


@contextmanager
def open_input(
    path: Path, *, tolerant: bool = False, encoding: str = "utf-8"
) -> Generator[InputFile]:
    """Open a file, at the start of its text. Raises `InputError` if it cannot be read.

    The encoding is that of a file without a byte order mark.

    With `tolerant`, a truncated gzip file is read up to where it ends, and a broken character of
    UTF-16 becomes U+FFFD.
    """
    check_regular(path)
    where = str(path)
    try:
        with path.open("rb") as raw:
            yield _inspect(raw, where, tolerant, encoding)
    except GZIP_ERRORS as error:
        raise InputError(describe_gzip_error(error), where=where) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=where) from error


def describe_gzip_error(error: Exception) -> str:
    """The message for one of `GZIP_ERRORS`."""
    return f"damaged gzip data: {error}"


def read_packed(path: Path, *, encoding: str = "utf-8") -> tuple[bytes, Packing]:
    """The text of a whole file as UTF-8, and how to pack it again."""
    with open_input(path, encoding=encoding) as file:
        return file.stream.read(), file.packing


def check_regular(path: Path) -> None:
    """Refuse anything but a regular file: a directory, or a pipe whose reader could block."""
    where = str(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "standard input is not read: save it to a file first" if path.name == "-" else None
        raise InputError("no such file", where=where, hint=hint) from error
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(message, where=where) from error
    if stat.S_ISDIR(mode):
        hint = f"name the files in it: {path}/*"
        raise InputError("a directory, not a file", where=where, hint=hint)
    if not stat.S_ISREG(mode):
        raise InputError("not a regular file", where=where, hint="save it to a file first")


def _inspect(raw: io.BufferedReader, where: str, tolerant: bool, encoding: str) -> InputFile:
    is_gzip = raw.read(len(_GZIP)) == _GZIP
    raw.seek(0)
    stream: Stream = io.BufferedReader(_GzipReader(raw, where), _BLOCK) if is_gzip else raw
    head = _read_head(stream, tolerant)
    bom = next((mark for mark in _ENCODINGS if head.startswith(mark)), b"")
    encoding = _ENCODINGS.get(bom, encoding)
    if encoding == "utf-8":
        head = head.removeprefix(bom)
    else:
        stream = io.BufferedReader(
            _Utf8Reader(stream, bom, encoding, where, "replace" if tolerant else "strict"), _BLOCK
        )
        head = _read_head(stream, tolerant)
    if not head.strip():
        raise EmptyFileError("the file is empty", where=where)
    file = InputFile(stream, head, Packing(is_gzip, bom, encoding))
    _check_foreign(file, where)
    file.rewind()
    return file


def _read_head(stream: Stream, tolerant: bool) -> bytes:
    """Read block by block: one large read of a truncated gzip file would fail without a byte."""
    head = b""
    try:
        while len(head) < _HEAD and (block := stream.read1(_HEAD - len(head))):
            head += block
    except GZIP_ERRORS:
        if not head or not tolerant:
            raise
    return head


def _check_foreign(file: InputFile, where: str) -> None:
    if not file.head.startswith(tuple(_FOREIGN)) or not file.is_binary:
        return
    what, hint = next(
        description for magic, description in _FOREIGN.items() if file.head.startswith(magic)
    )
    if _XLSX in file.head:
        what, hint = _FOREIGN[b"\xd0\xcf\x11\xe0"]
    raise UnknownFormatError(f"{what}, expected text", where=where, hint=hint)


class _GzipReader(io.RawIOBase):
    """The content of a gzip file, unless it is a bomb: a few kilobytes that become gigabytes."""

    def __init__(self, file: io.BufferedReader, where: str) -> None:
        super().__init__()
        self._file = file
        self._where = where
        self._content = gzip.GzipFile(fileobj=file)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._content.seek(offset, whence)

    def tell(self) -> int:
        return self._content.tell()

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        block = self._content.read1(min(len(view), _BLOCK))
        view[: len(block)] = block
        size = self._content.tell()
        if size > _SAFE_SIZE and size > _MAX_RATIO * self._file.tell():
            raise InputError(
                f"suspicious gzip data: more than {_MAX_RATIO} times larger when decompressed",
                where=self._where,
                hint="decompress it first if you trust it",
            )
        return len(block)


class _Utf8Reader(io.RawIOBase):
    """The text of a stream in another encoding as UTF-8."""

    def __init__(
        self,
        stream: Stream,
        bom: bytes,
        encoding: str,
        where: str,
        errors: Literal["strict", "replace"],
    ) -> None:
        super().__init__()
        self._stream = stream
        self._bom = bom
        self._encoding = encoding
        self._where = where
        self._errors = errors
        self._start()

    def _start(self) -> None:
        self._stream.seek(len(self._bom))
        self._decoder = codecs.getincrementaldecoder(self._encoding)(self._errors)
        self._pending = b""
        self._position = 0
        self._lines = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("can only go back to the start")
        self._start()
        return 0

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        block = b"more"
        while block and not self._pending:
            block = self._stream.read(_BLOCK)
            self._pending = self._decode(block)
            self._lines += self._pending.count(b"\n")
        part = self._pending[: len(view)]
        view[: len(part)] = part
        self._pending = self._pending[len(part) :]
        self._position += len(part)
        return len(part)

    def _decode(self, block: bytes) -> bytes:
        try:
            return self._decoder.decode(block, final=not block).encode()
        except UnicodeDecodeError as error:
            encoding = self._encoding
            valid = bytes(error.object[: error.start]).decode(encoding, "replace")
            line = self._lines + valid.count("\n") + 1
            name = re.sub("-[bl]e$", "", encoding).upper()
            where = f"{self._where} line {line}"
            raise InputError(f"not valid {name}", where=where, hint=SAVE_AS_UTF8) from error
