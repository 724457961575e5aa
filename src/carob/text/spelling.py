"""Names in another spelling, and names that are misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)  # the keys of rows are few, and come again in each row
def fold(name: str) -> str:
    """A name without the difference between `match_type` and `matchType`."""
    return name.replace("_", "").lower()


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """The known name that somebody who wrote `name` probably meant."""
    return next(iter(_near(name, known, cutoff)), None)


def meant(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """The hint for a name that is probably misspelt. Where names differ only in their spelling, as
    `Relevance` and `relevance` do, nobody guesses which of them it is."""
    found = _near(name, known, cutoff)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else None


def _near(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    from difflib import get_close_matches  # late: only errors need it

    spelt: dict[str, list[str]] = {}
    for one in dict.fromkeys(known):
        spelt.setdefault(fold(one), []).append(one)
    near = get_close_matches(fold(name), spelt, n=1, cutoff=cutoff)
    return spelt[near[0]] if near else []
