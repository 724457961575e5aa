"""The base class of all data types, the type of JSON values, and decoding in threads."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from typing import TypeAlias

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec has no recursive types

T = TypeVar("T")


class Struct(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, gc=False):
    """Frozen, and encoded and printed without defaults.

    Structs hold no reference cycles, so the garbage collector may skip them.
    """


_LOCK = RLock()
_PREPARED: set[object] = set()


def prepare_type(kind: type[T]) -> type[T]:
    """Return a type that values can be decoded as in any thread.

    msgspec works out the fields of a struct when it is first decoded, and stores the unfinished
    result where other threads find it: two threads that decode the same type first crash the
    process. So every type that is decoded passes here, and is worked out by one thread at a time.
    """
    if kind not in _PREPARED:
        with _LOCK:
            msgspec.json.Decoder(kind)
            _PREPARED.add(kind)
    return kind
