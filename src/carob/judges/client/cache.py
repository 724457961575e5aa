"""Caches of answers. The same model, settings and prompt give the same answer again: without a
call, at no cost, and with byte-identical results when a run is repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

from carob.schema import Struct

_BATCH_SIZE = 64
_BATCH_SECONDS = 1.0


class CachedAnswer(Struct, frozen=True, omit_defaults=False):
    """An answer, and what it cost when the model was asked."""

    text: str
    """The answer as JSON."""
    probabilities: dict[str, float] = {}
    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Cache(Protocol):
    """Answers by the digest of their request."""

    def get(self, key: str) -> CachedAnswer | None: ...

    def put(self, key: str, answer: CachedAnswer) -> None: ...

    def close(self) -> None:
        """Write pending answers."""
        ...


class AnswerTable(Protocol):
    """A table of the store that holds answers."""

    def get(self, address: str, /) -> CachedAnswer | None: ...

    def put_all(self, contents: Mapping[str, CachedAnswer], /) -> None: ...


class MemoryCache:
    """A cache for the lifetime of the process."""

    def __init__(self) -> None:
        self._answers: dict[str, CachedAnswer] = {}

    def get(self, key: str) -> CachedAnswer | None:
        return self._answers.get(key)

    def put(self, key: str, answer: CachedAnswer) -> None:
        self._answers[key] = answer

    def close(self) -> None:
        """Do nothing: there is nothing to write."""


class StoredCache:
    """A cache in the store, which is opened at the first lookup.

    Answers are written in batches, since a transaction for each would block all calls. A process
    that is killed loses the answers of the last second.
    """

    def __init__(self, open_table: Callable[[], AbstractContextManager[AnswerTable]]) -> None:
        self._open_table = open_table
        self._stack = ExitStack()
        self._table: AnswerTable | None = None
        self._pending: dict[str, CachedAnswer] = {}
        self._written_at = time.monotonic()

    def get(self, key: str) -> CachedAnswer | None:
        # Pending answers first: a question that is asked twice within a batch is not sent again.
        return self._pending.get(key) or self._ensure_table().get(key)

    def put(self, key: str, answer: CachedAnswer) -> None:
        self._pending[key] = answer
        full = len(self._pending) >= _BATCH_SIZE
        if full or time.monotonic() - self._written_at >= _BATCH_SECONDS:
            self._write()

    def close(self) -> None:
        with self._stack:
            self._write()
            self._table = None

    def _ensure_table(self) -> AnswerTable:
        if self._table is None:
            self._table = self._stack.enter_context(self._open_table())
        return self._table

    def _write(self) -> None:
        if self._pending:
            self._ensure_table().put_all(self._pending)
            self._pending = {}
        self._written_at = time.monotonic()
