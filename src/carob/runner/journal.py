"""What a run has done so far, on disk, so that a run that was stopped or killed can go on.

A journal is written only once scoring has taken a while: a short run leaves nothing behind, and
what was only read is read again. Each batch is one line, written at once; a line that was cut off
is a batch that was not done.
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
from carob.runner.done import Done

PATIENCE = 2.0
"""Seconds of scoring that are worth keeping."""


class _Line(msgspec.Struct):
    batch: int
    done: Done


@cache  # to make one takes longer than to score a few traces, and few runs go on
def _decoder() -> msgspec.json.Decoder[_Line]:
    return msgspec.json.Decoder(_Line)


def _decoded(line: bytes) -> _Line | None:
    try:
        return _decoder().decode(line) if line.endswith(b"\n") else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class Journal:
    """The journal of one run; the name of the file says what the run is about."""

    def __init__(self, path: Path, *, resume: bool, patience: float = PATIENCE) -> None:
        self.path = path
        self.kept = 0
        self._patience = patience
        self._open_at = time.monotonic() + patience
        self._waiting: list[_Line] = []
        if not resume:
            self._remove()

    def finished(self) -> Iterator[tuple[int, Done]]:
        """The batches that are done, from an earlier attempt; a line that was cut off is removed,
        so that the next one does not continue it."""
        self._open_at = time.monotonic() + self._patience  # scoring begins; reading does not count
        try:
            data = self.path.read_bytes()
        except OSError:
            return
        whole = 0
        for line in data.splitlines(keepends=True):
            found = _decoded(line)
            if found is None:
                with suppress(OSError):
                    os.truncate(self.path, whole)
                return
            whole += len(line)
            self.kept += 1
            yield found.batch, found.done

    def append(self, batch: int, done: Done) -> None:
        """Keep a batch; on disk, if the run has lasted long enough."""
        self.kept += 1
        self._waiting.append(_Line(batch, done))
        if time.monotonic() >= self._open_at:
            with suppress(OutputError):  # a run in a folder that is read-only is a run all the same
                self.flush()

    def flush(self) -> None:
        """Write what is not on disk yet."""
        if not self._waiting:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.writelines(msgspec.json.encode(line) + b"\n" for line in self._waiting)
        except OSError as error:
            message = f"the journal cannot be written: {error.strerror}"
            raise OutputError(message, where=str(self.path)) from error
        self._waiting.clear()

    def close(self) -> None:
        """The run is complete, the journal is not needed any more."""
        self._waiting.clear()
        self._remove()
        with suppress(OSError):  # other runs may have journals there
            self.path.parent.rmdir()
            self.path.parent.parent.rmdir()

    def _remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()
