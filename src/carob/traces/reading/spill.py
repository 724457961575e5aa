"""Traces put aside on disk until it is their turn, so that memory does not grow with the input."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from carob.schema import Trace

_decoder = msgspec.msgpack.Decoder(Trace)
_encoder = msgspec.msgpack.Encoder()


class Aside(NamedTuple):
    """Where a trace was put."""

    path: str
    start: int
    size: int


Slot: TypeAlias = Trace | Aside
"""A trace, or where it is."""


class Spill:
    """A file of encoded traces, which exists from the first one on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.pending: list[bytes] = []
        self.waiting = 0

    def put(self, trace: Trace) -> Slot:
        """Put a trace aside; one that cannot be encoded stays as it is."""
        try:
            data = _encoder.encode(trace)
        except (OverflowError, UnicodeEncodeError, RecursionError, TypeError):
            return trace
        place = Aside(str(self.path), self.size, len(data))
        self.size += len(data)
        self.pending.append(data)
        self.waiting += len(data)
        if self.waiting > 1 << 22:
            self.flush()
        return place

    def flush(self) -> None:
        """Write what is waiting to be written."""
        if self.pending:
            with self.path.open("ab") as file:
                file.writelines(self.pending)
            self.pending, self.waiting = [], 0


class Shelf:
    """Takes traces back from where they were put."""

    def __init__(self) -> None:
        self.files: dict[str, FileIO] = {}

    def take(self, slot: Slot) -> Trace:
        """The trace in a slot."""
        if isinstance(slot, Trace):
            return slot
        file = self.files.get(slot.path)
        if file is None:
            file = self.files[slot.path] = FileIO(slot.path)
        file.seek(slot.start)
        return _decoder.decode(file.read(slot.size))

    def close(self) -> None:
        """Close what was opened."""
        for file in self.files.values():
            file.close()
        self.files.clear()
