"""Traces spilled to disk until they are needed, so that memory does not grow with the input."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from carob.schema import Trace
from carob.schema.base import prepare_type

_FLUSH_SIZE = 4 << 20

_decoder = msgspec.msgpack.Decoder(prepare_type(Trace))
_encoder = msgspec.msgpack.Encoder()


class SpilledTrace(NamedTuple):
    """The bytes of a spill file that hold a trace."""

    path: str
    start: int
    size: int


TraceSlot: TypeAlias = Trace | SpilledTrace
"""A trace in memory or on disk."""


class Spill:
    """A file of encoded traces. It is created when the first trace is flushed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.pending: list[bytes] = []
        self.pending_size = 0

    def put(self, trace: Trace) -> TraceSlot:
        """Spill a trace; one that cannot be encoded stays in memory."""
        try:
            data = _encoder.encode(trace)
        except (OverflowError, UnicodeEncodeError, RecursionError, TypeError):
            return trace
        # The place is known before the data is written, so traces are collected and written in few
        # large blocks. Readers must come after `flush`.
        slot = SpilledTrace(str(self.path), self.size, len(data))
        self.size += len(data)
        self.pending.append(data)
        self.pending_size += len(data)
        if self.pending_size > _FLUSH_SIZE:
            self.flush()
        return slot

    def flush(self) -> None:
        """Write the pending traces."""
        if self.pending:
            with self.path.open("ab") as file:
                file.writelines(self.pending)
            self.pending, self.pending_size = [], 0


class SpillReader:
    """Loads traces from spill files, which it opens once each."""

    def __init__(self) -> None:
        self.files: dict[str, FileIO] = {}

    def load(self, slot: TraceSlot) -> Trace:
        """The trace in a slot."""
        if isinstance(slot, Trace):
            return slot
        file = self.files.get(slot.path)
        if file is None:
            file = self.files[slot.path] = FileIO(slot.path)
        file.seek(slot.start)
        return _decoder.decode(file.read(slot.size))

    def close(self) -> None:
        """Close the spill files."""
        for file in self.files.values():
            file.close()
        self.files.clear()
