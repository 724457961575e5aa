"""The journal of a run: finished batches on disk, so that a stopped or killed run can resume.

A journal is written only once scoring has taken a while, so a short run leaves no file behind.
Each batch is one line, written at once; an incomplete last line is a batch that was not finished.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from carob.errors import OutputError
from carob.runner.job import BatchResult
from carob.schema.base import prepare_type

PATIENCE = 2.0
"""Seconds of scoring that are worth saving."""


class _Line(msgspec.Struct):
    batch: int
    result: BatchResult


@cache  # building a decoder takes longer than scoring a few traces, and few runs resume
def _decoder() -> msgspec.json.Decoder[_Line]:
    return msgspec.json.Decoder(prepare_type(_Line))


def _decode(line: bytes) -> _Line | None:
    try:
        return _decoder().decode(line) if line.endswith(b"\n") else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class Journal:
    """The journal of one run. The file is named after a digest of everything the run is made of."""

    def __init__(self, path: Path, *, resume: bool, patience: float = PATIENCE) -> None:
        self.path = path
        self.batches = 0
        """Number of finished batches, including those of earlier attempts."""
        self._patience = patience
        self._write_after = time.monotonic() + patience
        self._pending: list[_Line] = []
        if not resume:
            self._remove()

    def finished(self) -> Iterator[tuple[int, BatchResult]]:
        """Yield the batches of earlier attempts. An incomplete last line is cut off, because the
        next line would be appended to it."""
        self._write_after = time.monotonic() + self._patience  # reading files does not count
        try:
            data = self.path.read_bytes()
        except OSError:
            return
        end = 0
        for text in data.splitlines(keepends=True):
            line = _decode(text)
            if line is None:
                with suppress(OSError):
                    os.truncate(self.path, end)
                return
            end += len(text)
            self.batches += 1
            yield line.batch, line.result

    def append(self, batch: int, result: BatchResult) -> None:
        """Add a finished batch. It is written to disk if the run has lasted long enough."""
        self.batches += 1
        self._pending.append(_Line(batch, result))
        if time.monotonic() >= self._write_after:
            with suppress(OutputError):  # a run in a read-only folder works without a journal
                self.flush()

    def flush(self) -> None:
        """Write pending batches to disk."""
        if not self._pending:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.writelines(msgspec.json.encode(line) + b"\n" for line in self._pending)
        except OSError as error:
            message = f"cannot write the journal: {error.strerror}"
            raise OutputError(message, where=str(self.path)) from error
        self._pending.clear()

    def close(self) -> None:
        """Remove the journal of a complete run."""
        self._pending.clear()
        self._remove()
        with suppress(OSError):  # not empty: other runs have journals there
            self.path.parent.rmdir()
            self.path.parent.parent.rmdir()

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()
