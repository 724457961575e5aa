"""K401: one word per thing, in tags as well."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from carob.datasets.lint.check import Found, Item, Place, path_of
from carob.schema import Dataset

_GAP = re.compile(r"[\s_./-]+")
_SHORTEST = 5
"""Characters of a tag that may be a misspelling: shorter ones differ in a letter by nature."""
_LISTED = 30


class InconsistentTags:
    """Tags that differ only in case, in their gaps or in number; that are a letter apart; or that
    are the beginning of another one."""

    rules = ("K401",)

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, Found] = {}

    def see(self, item: Item) -> Iterable[Found]:
        for tag in dict.fromkeys(item.case.tags):
            self._counts[tag] += 1
            if tag not in self._first:
                self._first[tag] = _found(tag, item.place, item)
        return ()

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        better = _better(self._counts)
        words = sorted(tag for tag in self._counts if tag not in better)
        vocabulary = ", ".join(words[:_LISTED]) + (" …" if len(words) > _LISTED else "")
        for tag, other in better.items():
            times = f"{self._counts[tag]} against {self._counts[other]}"
            yield self._first[tag]._replace(
                message=f"the tag {tag!r} is {other!r} elsewhere ({times})",
                hint=f"write {other!r}; the vocabulary would be {vocabulary}",
            )


def _found(tag: str, place: Place, item: Item) -> Found:
    return Found("K401", place, "", None, path_of(item.doc, tag))


def folded(tag: str) -> str:
    """A tag without case, gaps and plural."""
    words = _GAP.sub("-", tag.strip().casefold())
    if words.endswith("ies") and len(words) > 4:
        return words[:-3] + "y"
    if words.endswith("s") and not words.endswith("ss") and len(words) > 3:
        return words[:-1]
    return words


def _better(counts: Counter[str]) -> dict[str, str]:
    """For each tag that should be another one, that other one."""
    groups: dict[str, list[str]] = {}
    for tag in counts:
        groups.setdefault(folded(tag), []).append(tag)
    best = {fold: max(tags, key=lambda tag: _rank(tag, counts)) for fold, tags in groups.items()}
    totals = {fold: sum(counts[tag] for tag in tags) for fold, tags in groups.items()}
    close = _near_misses(totals)
    better: dict[str, str] = {}
    for fold, tags in groups.items():
        goal = best[close.get(fold, fold)]
        better |= {tag: goal for tag in tags if tag != goal}
    return better


def _rank(tag: str, counts: Counter[str]) -> tuple[int, bool, str]:
    """The usual spelling; of two that are as usual, the plain one."""
    return counts[tag], tag == _GAP.sub("-", tag.lower()), tag


def _near_misses(totals: dict[str, int]) -> dict[str, str]:
    """For each rare tag, a more usual one that it is a slip or the beginning of."""
    found: dict[str, str] = {}
    by_less: dict[str, list[str]] = {}
    for tag in totals:
        for less in _less(tag):
            by_less.setdefault(less, []).append(tag)
    for tag in totals:
        others = {other for less in _less(tag) for other in by_less[less][:50]}
        others |= {tag[:end] for end in range(4, len(tag) - 1)} & totals.keys()
        for other in sorted(others - {tag}):
            rare, usual = sorted((tag, other), key=lambda one: (totals[one], one))
            if _same_thing(rare, usual) and (totals[rare] < 3 or totals[rare] * 3 <= totals[usual]):
                found[rare] = usual
    # Never to a tag that is itself one to be replaced.
    return {tag: goal for tag, goal in found.items() if goal not in found}


def _less(tag: str) -> set[str]:
    """The tag, and the tag without any one of its letters: two tags that are a letter apart, or
    have two letters swapped, share one of these."""
    if len(tag) < _SHORTEST or len(tag) > 40:
        return set()
    return {tag, *(tag[:index] + tag[index + 1 :] for index in range(len(tag)))}


def _same_thing(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if _digits(short) != _digits(long):  # `level-1` and `level-2`
        return False
    if long.startswith(short) and len(long) > len(short) + 1:
        return "-" not in long[len(short) :]
    return _slip(short, long)


def _slip(short: str, long: str) -> bool:
    """Is one letter more, another one, or are two neighbours swapped?"""
    start = next(
        (at for at, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]),
        len(short),
    )
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = short[:start] + short[start : start + 2][::-1] + short[start + 2 :]
    return swapped == long or short[start + 1 :] == long[start + 1 :]


def _digits(tag: str) -> str:
    return "".join(char for char in tag if char.isdigit())
