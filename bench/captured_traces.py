"""Trace files made of captures of real instrumentations, repeated with new ids.

One line is one export of two turns: about 14 spans and 40 kB.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench.measure import ROOT

FOLDER = ROOT / ".bench"
_CAPTURES = ROOT / "tests" / "traces" / "conventions" / "captures"
_IDS = re.compile(rb'"(?:traceId|spanId)":"([0-9a-f]{16,32})"')
_SESSIONS = re.compile(
    rb'"[\w.]*(?:session|conversation|thread)[._]?id","value":\{"stringValue":"([^"]+)"',
    re.IGNORECASE,
)


def captured_traces(megabytes: int) -> Path:
    """A file of this size, created on first use. The content is deterministic."""
    path = FOLDER / f"captured-traces-{megabytes}.otlp.jsonl"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        part = path.with_suffix(".part")
        left = megabytes * 10**6
        with part.open("wb") as file:
            for copy in _copies():
                left -= file.write(copy)
                if left <= 0:
                    break
        part.rename(path)
    return path


def _copies() -> Iterator[bytes]:
    rng = random.Random(4)  # noqa: S311 - not a secret
    captures = [path.read_bytes() for path in sorted(_CAPTURES.glob("*.otlp.jsonl"))]
    known = [_Capture(data if data.endswith(b"\n") else data + b"\n") for data in captures]
    for number in count():
        yield known[number % len(known)].copy(number, rng)


class _Capture:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.ids = {*_IDS.findall(data)}
        names = sorted(self.ids | {*_SESSIONS.findall(data)}, key=len, reverse=True)
        self.names = re.compile(b"|".join(map(re.escape, names)))

    def copy(self, number: int, rng: random.Random) -> bytes:
        renamed: dict[bytes, bytes] = {}

        def new_name(match: re.Match[bytes]) -> bytes:
            name = match[0]
            if name not in renamed:
                size = len(name)
                fresh = f"{rng.getrandbits(4 * size):0{size}x}".encode()
                renamed[name] = fresh if name in self.ids else b"%s-%d" % (name, number)
            return renamed[name]

        return self.names.sub(new_name, self.data)
