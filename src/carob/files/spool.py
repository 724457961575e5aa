"""Sequences that may be larger than memory: few items are a tuple, many are kept in a file.

A spool writes each item once, encoded, and an index of where items end. Reading maps the index into
memory, so that several processes share it, and decodes items while they are iterated.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Generic, Protocol, TypeVar, overload

from carob.files.scratch import make_scratch_folder, remove_folder

T = TypeVar("T")
U = TypeVar("U")
IN_MEMORY = 2_000
"""Items that stay in memory. More of them are written to a file."""
_BLOCK = 1 << 20
"""Bytes that are read at once while iterating."""


class Codec(Protocol[T]):
    """Encodes and decodes items. Picklable, because spooled sequences are sent to processes."""

    def encode(self, item: T, /) -> bytes: ...

    def decode(self, data: bytes, /) -> T: ...


class PickleCodec(Generic[T]):
    """Encodes any item exactly, for files that only this program reads."""

    def encode(self, item: T, /) -> bytes:
        import pickle  # late: small runs need no file

        return pickle.dumps(item, pickle.HIGHEST_PROTOCOL)

    def decode(self, data: bytes, /) -> T:
        import pickle

        return pickle.loads(data)  # noqa: S301 - written by this program


class Spool(Generic[T]):
    """Collects items. Once there are more than `in_memory`, all of them are in a scratch file."""

    def __init__(self, codec: Codec[T], in_memory: int | None = None) -> None:
        self._codec = codec
        self._in_memory = IN_MEMORY if in_memory is None else in_memory
        self._items: list[T | bytes] = []
        self._file: SpoolFile | None = None

    def append(self, item: T) -> None:
        """Add an item."""
        if self._file:
            self._file.append(self._codec.encode(item))
        else:
            self._hold(item)

    def append_encoded(self, data: bytes) -> None:
        """Add an item that is encoded already."""
        if self._file:
            self._file.append(data)
        else:
            self._hold(data)

    def extend(self, items: Iterable[T]) -> None:
        """Add several items."""
        for item in items:
            self.append(item)

    def _hold(self, item: T | bytes) -> None:
        self._items.append(item)
        if len(self._items) > self._in_memory:
            self._file = SpoolFile(make_scratch_folder() / "items")
            for held in self._items:
                self._file.append(held if isinstance(held, bytes) else self._codec.encode(held))
            self._items.clear()

    def finish(self) -> Sequence[T]:
        """Return the items: a tuple, or a sequence that reads its file."""
        if self._file:
            return SpooledSequence(self._file.close(), self._codec, owned=True)
        decode = self._codec.decode
        return tuple([decode(item) if isinstance(item, bytes) else item for item in self._items])


class SpoolFile:
    """A file of encoded items, and beside it an index of their ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = path.open("wb")
        self._ends = array("Q")
        self._size = 0

    def append(self, data: bytes) -> None:
        """Write one item."""
        self._file.write(data)
        self._size += len(data)
        self._ends.append(self._size)

    def close(self) -> Path:
        """Write the index and return the path. Nothing can be appended afterwards."""
        self._file.close()
        with index_path(self._path).open("wb") as file:
            self._ends.tofile(file)
        return self._path


def index_path(path: Path) -> Path:
    """Return the path of the index of a spool file."""
    return path.with_suffix(".index")


class SpooledSequence(Sequence[T]):
    """The items of a spool file. The owner of the file removes its folder when it is no longer
    used; copies in other processes only read."""

    def __init__(
        self, path: Path, codec: Codec[T], *, owned: bool = False, owner: object = None
    ) -> None:
        self._path, self._codec = path, codec
        self._owner = owner
        self._ends = _map_index(index_path(path))
        self._lock = Lock()
        self._file = path.open("rb", buffering=0)
        if owned:
            import weakref  # late: small runs need no file

            # Not `__del__`: the folder is also removed if the sequence lives until the end.
            weakref.finalize(self, remove_folder, path.parent)

    def __del__(self) -> None:
        with suppress(AttributeError):  # the constructor failed
            self._file.close()

    def __reduce__(self) -> tuple[Callable[..., SpooledSequence[T]], tuple[Path, Codec[T]]]:
        return SpooledSequence, (self._path, self._codec)

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[T]:
        return map(self._codec.decode, self.encoded())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        position = range(len(self))[index]
        start = self._ends[position - 1] if position else 0
        with self._lock:
            self._file.seek(start)
            data = self._file.read(self._ends[position] - start)
        return self._codec.decode(data)

    def view(self, codec: Codec[U]) -> SpooledSequence[U]:
        """Return the same items, decoded in another way."""
        return SpooledSequence(self._path, codec, owner=self)

    def encoded(self) -> Iterator[bytes]:
        """Yield the items as they were encoded."""
        with self._path.open("rb", buffering=0) as file:
            block, first, start = b"", 0, 0  # the block begins at `first`
            for end in self._ends:
                if end > first + len(block):
                    rest = block[start - first :]
                    block, first = rest + file.read(max(_BLOCK, end - start)), start
                yield block[start - first : end - first]
                start = end


def _map_index(path: Path) -> Sequence[int]:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return ()
        # The map keeps its pages in the file system's cache, once for all processes.
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).cast("Q")


def encode_items(items: Iterable[T], encode: Callable[[T], bytes]) -> Iterator[bytes]:
    """Yield items encoded; those of a file as they are there."""
    return items.encoded() if isinstance(items, SpooledSequence) else map(encode, items)
