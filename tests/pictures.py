"""`python -m tests.pictures`: take the pictures of the pages for README.md and docs/, in Chromium,
of a server with the sample data."""

from __future__ import annotations

import shutil
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from carob.api.demo import load_demo
from carob.api.golden.folder import GoldenFolder
from carob.api.review import create_queue, label_item
from tests.server.conftest import start_server

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
MAX_BYTES = 90_000
_WIDTH, _HEIGHT = 1280, 760
_TALL = 1040
"""Height of the page of a case, with its edit script."""
_PALETTE = 255
_ALIKE = 60


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Elsewhere, because runs are labelled with the branch and the commit of the folder.
    with TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        store = str(folder / ".carob" / "carob.db")
        (folder / ".carob").mkdir()
        golden = GoldenFolder(folder / "golden", folder / "golden" / "registry")
        run = load_demo(golden, store, folder / ".carob" / "traces")
        queue = create_queue(run.id, "response_match_score", store=store)
        for place, case in enumerate(run.cases[:6]):
            label = "passed" if case.scores[-1].status == "passed" else "failed"
            label_item(queue.id, place, label, by="Ida", store=store)
        server = start_server(folder, "--store", store)
        try:
            _take(server.addresses["pages"].rstrip("/"), run.id, queue.id)
        finally:
            server.stop()


def _take(address: str, run: str, queue: str) -> None:
    pages: Mapping[str, str] = {
        "run": f"/runs/{run}",
        "case": f"/runs/{run}/cases/repair_brake",
        "compare": f"/compare?base=release:1.4.0&run={run}",
        "dataset": "/datasets/bike_shop_support",
        "review": f"/review/{queue}?by=Ida&item=2",
        "live": "/live",
    }
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(color_scheme="light")
        for name, path in pages.items():
            height = _TALL if name == "case" else _HEIGHT
            page.set_viewport_size({"width": _WIDTH, "height": height})
            page.goto(f"{address}{path}")
            page.wait_for_selector("html.scripted")
            _choose_row(page)
            data = shrink(page.screenshot())
            (FOLDER / f"{name}.png").write_bytes(data)
            sys.stdout.write(f"{name}.png {len(data):,} bytes\n")
        browser.close()


def _choose_row(page: Page) -> None:
    if page.locator("table.list tbody tr").count():
        page.keyboard.press("j")


def shrink(png: bytes) -> bytes:
    """Write a picture with a palette of its most frequent colors; others become the nearest. Colors
    that look alike share an entry, else a few green signs would lose theirs to many grays."""
    width, height, pixels = _decode(png)
    colors = Counter(pixels)
    palette: list[_Color] = []
    for color, _ in colors.most_common():
        if len(palette) < _PALETTE and (not palette or _distance(color, palette) > _ALIKE):
            palette.append(color)
    nearest = {color: _nearest(color, palette) for color in colors}
    rows = (pixels[start : start + width] for start in range(0, width * height, width))
    data = b"".join(b"\0" + bytes(nearest[color] for color in row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (
        (b"IHDR", head),
        (b"PLTE", b"".join(bytes(color) for color in palette)),
        (b"IDAT", zlib.compress(data, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in parts)


_Color = tuple[int, int, int]


def _distances(color: _Color, palette: list[_Color]) -> list[int]:
    return [sum((a - b) ** 2 for a, b in zip(color, other, strict=True)) for other in palette]


def _distance(color: _Color, palette: list[_Color]) -> int:
    return min(_distances(color, palette))


def _nearest(color: _Color, palette: list[_Color]) -> int:
    distances = _distances(color, palette)
    return distances.index(min(distances))


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _decode(png: bytes) -> tuple[int, int, list[_Color]]:
    """Read what Chromium writes: 8 bits per channel, RGB or RGBA, not interlaced."""
    chunks = list(_chunks(png))
    width, height, _, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    channels = {2: 3, 6: 4}[kind]
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    stride = width * channels
    before = bytearray(stride)
    pixels: list[_Color] = []
    for row in range(height):
        start = row * (stride + 1)
        line = bytearray(data[start + 1 : start + 1 + stride])
        _unfilter(data[start], line, before, channels)
        pixels += zip(line[0::channels], line[1::channels], line[2::channels], strict=True)
        before = line
    return width, height, pixels


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += 12 + length


def _unfilter(kind: int, line: bytearray, before: bytearray, channels: int) -> None:
    for index in range(len(line)):
        left = line[index - channels] if index >= channels else 0
        above = before[index]
        corner = before[index - channels] if index >= channels else 0
        guess = (0, left, above, (left + above) // 2, _paeth(left, above, corner))[kind]
        line[index] = (line[index] + guess) & 255


def _paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))


if __name__ == "__main__":
    main()
