"""A member of a zip archive that is compressed with Zstandard, as current versions of Inspect do.

Python's own library reads it from 3.14 on; before, the package of the extra `zstd` does.
"""

from __future__ import annotations

import io
import struct
import zipfile
from importlib.util import find_spec
from typing import BinaryIO

_ZSTD = 93
_MAGIC = b"PK\x03\x04"
_HEAD = struct.Struct("<26xHH")
"""The head of a member, with the lengths of its name and of its extra field."""


def needs_package(member: zipfile.ZipInfo) -> bool:
    """Whether a member is compressed with Zstandard, and the package that reads it is there."""
    return member.compress_type == _ZSTD and find_spec("zstandard") is not None


class ZstdMember(io.RawIOBase):
    """Decompresses a member while it is read, up to the size that it states."""

    def __init__(self, file: BinaryIO, member: zipfile.ZipInfo) -> None:
        from zstandard import ZstdDecompressor, ZstdError  # late: it is in an extra

        file.seek(member.header_offset)
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size or not head.startswith(_MAGIC):
            raise zipfile.BadZipFile("no file at the position of the directory")
        name, extra = _HEAD.unpack(head)
        file.seek(name + extra, io.SEEK_CUR)
        self._source = ZstdDecompressor().stream_reader(file, closefd=False)
        self._error = ZstdError
        self._left = member.file_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - always a view
        try:
            data = self._source.read(min(len(buffer), self._left))
        except self._error as error:
            raise zipfile.BadZipFile(str(error)) from error
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)
