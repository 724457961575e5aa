"""The pictures in README.md and docs/."""

from __future__ import annotations

import re
import struct
import zlib

from tests.docs import ROOT, pages
from tests.pictures import FOLDER, MAX_BYTES, shrink


def test_pictures_are_small_and_shown():
    texts = "".join(page.read_text("utf-8") for page in pages())
    shown = set(re.findall(r"pictures/([\w-]+\.png)", texts))
    files = {file.name: file.stat().st_size for file in FOLDER.glob("*.png")}
    assert set(files) == shown
    assert {name: size for name, size in files.items() if size > MAX_BYTES} == {}


def test_pictures_in_pages_say_what_they_show():
    for page in pages():
        for words in re.findall(r"!\[([^\]]*)\]\([^)]*pictures/", page.read_text("utf-8")):
            assert len(words.split()) >= 4, (page.relative_to(ROOT), words)


def test_shrinking_keeps_rare_colors():
    width, height = 40, 10
    row = b"\0" + b"\xfb\xfa\xf6" * (width - 1) + b"\x14\x66\x3a"
    png = _png(width, height, row * height)
    small = shrink(png)
    palette = small[small.index(b"PLTE") + 4 :][:6]
    assert palette == b"\xfb\xfa\xf6\x14\x66\x3a"


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        size, end = struct.pack(">I", len(body)), struct.pack(">I", zlib.crc32(kind + body))
        return size + kind + body + end

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
