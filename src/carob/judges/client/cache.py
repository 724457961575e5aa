"""What was answered before. The same model, parameters and words give the same answer again: no
call, no cost, and a run that is made again is byte for byte the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol

from carob.schema import Noun

_MOST = 64
_SECONDS = 1.0


class Kept(Noun, frozen=True, omit_defaults=False):
    """An answer, and what it took when the model was really asked."""

    text: str
    """The JSON of the answer."""
    probabilities: dict[str, float] = {}
    calls: int = 1
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Cache(Protocol):
    """Answers by the digest of all that was sent."""

    def get(self, address: str) -> Kept | None: ...

    def put(self, address: str, kept: Kept) -> None: ...

    def close(self) -> None:
        """Write down what is not written yet."""
        ...


class Shelf(Protocol):
    """Where answers last: a table of the store."""

    def get(self, address: str) -> Kept | None: ...

    def put_all(self, contents: Mapping[str, Kept]) -> None: ...


class Memory:
    """A cache that lasts as long as the process."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def get(self, address: str) -> Kept | None:
        return self._kept.get(address)

    def put(self, address: str, kept: Kept) -> None:
        self._kept[address] = kept

    def close(self) -> None:
        """There is nothing to write."""


class Lasting:
    """A cache on a shelf, which is opened when the first answer is looked for. Answers are written
    some at a time: a transaction for each would keep everybody waiting. A process that is killed
    has to ask again what it got in the last second."""

    def __init__(self, shelf: Callable[[], AbstractContextManager[Shelf]]) -> None:
        self._open = shelf
        self._opened = ExitStack()
        self._shelf: Shelf | None = None
        self._new: dict[str, Kept] = {}
        self._written = time.monotonic()

    def get(self, address: str) -> Kept | None:
        return self._new.get(address) or self._at_hand().get(address)

    def put(self, address: str, kept: Kept) -> None:
        self._new[address] = kept
        if len(self._new) >= _MOST or time.monotonic() - self._written >= _SECONDS:
            self._write()

    def close(self) -> None:
        with self._opened:
            self._write()
            self._shelf = None

    def _at_hand(self) -> Shelf:
        if self._shelf is None:
            self._shelf = self._opened.enter_context(self._open())
        return self._shelf

    def _write(self) -> None:
        if self._new:
            self._at_hand().put_all(self._new)
            self._new = {}
        self._written = time.monotonic()
