"""What all nouns share: frozen, and written without their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from typing import TypeAlias

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec has no recursive types


class Noun(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base of every noun. Nouns hold no cycles, so the cycle collector may skip them."""
