"""Traces spilled to disk until they are needed, so that memory does not grow with the input."""

from __future__ import annotations

from collections.abc import Callable
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
    """A file of encoded traces. Its path is asked for when the first trace is spilled, and the file
    is created when that is flushed."""

    def __init__(self, locate: Callable[[], Path]) -> None:
        self._locate = locate
        self.path = ""
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
        self.path = self.path or str(self._locate())
        slot = SpilledTrace(self.path, self.size, len(data))
        self.size += len(data)
        self.pending.append(data)
        self.pending_size += len(data)
        if self.pending_size > _FLUSH_SIZE:
            self.flush()
        return slot

    def flush(self) -> None:
        """Write the pending traces."""
        if self.pending:
            with Path(self.path).open("ab") as file:
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
