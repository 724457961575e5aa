"""Suggestions for misspelled names, and names compared regardless of their case style."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_SEPARATORS = re.compile(r"[\s_-]+")


@lru_cache(maxsize=4096)  # rows of a file share their few keys
def fold_name(name: str) -> str:
    """Fold a name so that `match_type`, `matchType` and `Match Type` are equal."""
    return _SEPARATORS.sub("", name).lower()


def nearest_name(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """Return the known name closest to `name`, if any is close."""
    return next(iter(_close_names(name, known, cutoff)), None)


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str | None:
    """Return a hint for a misspelled name, or `None` if no known name is close.

    Names that differ only in case, as `Relevance` and `relevance`, are all suggested.
    """
    names = _close_names(name, known, cutoff)
    return f"did you mean {' or '.join(map(repr, names))}?" if names else None


def _close_names(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    from difflib import get_close_matches  # late: only errors need it

    by_folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(known):
        by_folded.setdefault(fold_name(candidate), []).append(candidate)
    closest = get_close_matches(fold_name(name), by_folded, n=1, cutoff=cutoff)
    return by_folded[closest[0]] if closest else []
