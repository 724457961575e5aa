"""Lenses of formats that are only read."""

from __future__ import annotations

from collections.abc import Callable

from carob.datasets.lens import Lens, N
from carob.datasets.patch import Patch
from carob.schema import Json


class OneWay(Lens[N]):
    """There is no way back, so nothing is kept for it: the noun must hold all that matters."""

    def rest(self, doc: Json) -> Patch | None:
        return None


def one_way(key: str, noun: type[N], read: Callable[[Json], N]) -> Lens[N]:
    """A lens that only reads."""
    return OneWay(key=key, noun=noun, read=read, write=lambda _: {}, open_at=None)
