"""Runs in files, as `carob run --format json -o FILE` writes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from carob.errors import InputError
from carob.files.spool import Spool
from carob.schema.codec import BytesCodec
from carob.schema.problem import ProgressListener, ignore
from carob.store.document import DocumentParts, RunDocument, check_run_id, parse_document

_LARGE = 16 << 20
"""Bytes of a file that are read as a whole."""
_REPORTED = 1000
"""Cases between two reports of the progress."""
_START, _END = b'  "cases": [\n', (b"  ]\n", b"  ],\n")
_ITEM, _ITEM_ENDS = b"    {\n", (b"    }\n", b"    },\n")
_KEY = b'  "cases":'


def read_run_file(path: Path, progress: ProgressListener = ignore) -> RunDocument:
    """Read a run. Raises `InputError` if it is none, or if its id does not match its content.
    `progress` receives the number of cases that were read, and how many the file seems to have."""
    where = str(path)
    try:
        parts = split_run_file(path, progress) if path.stat().st_size > _LARGE else None
        if parts is None:
            return parse_document(path.read_bytes(), where)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=where) from error
    document = parts.decode(where)
    check_run_id(document, where)
    return document


def split_run_file(path: Path, progress: ProgressListener = ignore) -> DocumentParts | None:
    """Split a file with the line breaks that Carob writes, without reading it as a whole. Returns
    `None` for any other layout.

    Text in JSON has no line breaks, so that the indentation of a line shows its depth.
    """
    head: list[bytes] = []
    spool = Spool(BytesCodec())
    found = False
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for line in file:
                if line == _START and not found:
                    found = True
                    for number, item in enumerate(_read_items(file), 1):
                        spool.append(_compact(item))
                        if number % _REPORTED == 0:
                            progress(number, number * size // file.tell())
                    head.append(b'  "cases": [],\n')
                elif line.startswith(_KEY):
                    return None  # twice, or not a list over several lines
                else:
                    head.append(line)
        text = b"".join(head).replace(b'"cases": [],\n}', b'"cases": []\n}')
        return DocumentParts(_compact(text), spool.finish()) if found else None
    except (msgspec.MsgspecError, UnicodeDecodeError, _ForeignRunFileError, RecursionError):
        return None


def _compact(text: bytes) -> bytes:
    if not text.isascii():
        text.decode()  # else nobody looks into fields that Carob does not know
    return msgspec.json.format(text, indent=-1)


class _ForeignRunFileError(Exception):
    """The file is not laid out as Carob writes it."""


def _read_items(file: BinaryIO) -> Iterator[bytes]:
    item: list[bytes] = []
    for line in file:
        if not item:
            if line in _END:
                return
            if line != _ITEM:
                break
        item.append(line)
        if line in _ITEM_ENDS:
            yield b"".join(item).rstrip(b",\n")
            item = []
    raise _ForeignRunFileError
