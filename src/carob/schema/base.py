"""The base class of all data types, and the type of JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from typing import TypeAlias

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec has no recursive types


class Struct(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Frozen, and encoded without defaults. Structs hold no reference cycles, so the garbage
    collector may skip them."""
