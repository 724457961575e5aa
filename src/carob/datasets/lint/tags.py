"""C401 and C402: tags that are different spellings of the same word, or not in the vocabulary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from carob.datasets.lint.rules import LintItem, LintOptions, RuleFamily, Violation, path_of
from carob.schema import Dataset, LintRule
from carob.text.spelling import did_you_mean

INCONSISTENT_TAG = LintRule(
    id="C401",
    name="inconsistent-tag",
    level="warning",
    summary="A tag is another spelling of one that is used more often.",
)
UNKNOWN_TAG = LintRule(
    id="C402",
    name="unknown-tag",
    level="warning",
    summary="A tag is not in the vocabulary of `carob.toml`.",
)

_SEPARATOR = re.compile(r"[\s_./-]+")
_SHORTEST = 5
"""Characters of a tag that may be a typo: shorter words often differ in one letter."""
_LONGEST = 40
_LISTED_TAGS = 30
_TAGS_PER_VARIANT = 50


class InconsistentTags(RuleFamily):
    """Tags that differ in case, separators, number or one letter, or that abbreviate another."""

    rules = (INCONSISTENT_TAG,)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._counts: Counter[str] = Counter()
        self._first_use: dict[str, Violation] = {}

    def visit(self, item: LintItem) -> Iterable[Violation]:
        for tag in dict.fromkeys(item.case.tags):
            self._counts[tag] += 1
            if tag not in self._first_use:
                path = path_of(item.doc, tag)
                self._first_use[tag] = Violation(INCONSISTENT_TAG, item.location, "", path=path)
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        if self.settings.tags:  # the vocabulary decides
            return
        replacements = _replacements(self._counts)
        tags = sorted(tag for tag in self._counts if tag not in replacements)
        listing = ", ".join(tags[:_LISTED_TAGS]) + (" …" if len(tags) > _LISTED_TAGS else "")
        for tag, usual in replacements.items():
            counts = f"used {self._counts[tag]} and {self._counts[usual]} times"
            yield self._first_use[tag]._replace(
                message=f"inconsistent tags {tag!r} and {usual!r}, {counts}",
                hint=f"use {usual!r}; the consistent tags are {listing}",
            )


class UnknownTags(RuleFamily):
    """Tags that the vocabulary does not have, each where it is used first."""

    rules = (UNKNOWN_TAG,)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._known = {*settings.tags}

    def visit(self, item: LintItem) -> Iterator[Violation]:
        if not self.settings.tags:
            return
        for tag in item.case.tags:
            if tag not in self._known:
                self._known.add(tag)
                yield Violation(
                    UNKNOWN_TAG,
                    item.location,
                    f"unknown tag {tag!r}",
                    did_you_mean(tag, self.settings.tags) or _list_tags(self.settings.tags),
                    path_of(item.doc, tag),
                )


def _list_tags(tags: Sequence[str]) -> str:
    listing = ", ".join(tags[:_LISTED_TAGS]) + (" …" if len(tags) > _LISTED_TAGS else "")
    return f"expected one of: {listing}"


def fold_tag(tag: str) -> str:
    """A tag in lower case, with hyphens, in the singular."""
    words = _SEPARATOR.sub("-", tag.strip().casefold())
    if words.endswith("ies") and len(words) > 4:
        return words[:-3] + "y"
    if words.endswith("s") and not words.endswith("ss") and len(words) > 3:
        return words[:-1]
    return words


def _replacements(counts: Counter[str]) -> dict[str, str]:
    """For each tag that should be spelled like another one, that other tag."""
    groups: dict[str, list[str]] = {}
    for tag in counts:
        groups.setdefault(fold_tag(tag), []).append(tag)
    best = {fold: max(tags, key=lambda tag: _rank(tag, counts)) for fold, tags in groups.items()}
    totals = {fold: sum(counts[tag] for tag in tags) for fold, tags in groups.items()}
    near_misses = _near_misses(totals)
    replacements: dict[str, str] = {}
    for fold, tags in groups.items():
        usual = best[near_misses.get(fold, fold)]
        replacements |= {tag: usual for tag in tags if tag != usual}
    return replacements


def _rank(tag: str, counts: Counter[str]) -> tuple[int, bool, str]:
    """Prefer the most frequent spelling; among equals, the one in plain lower case."""
    return counts[tag], tag == _SEPARATOR.sub("-", tag.lower()), tag


def _near_misses(totals: dict[str, int]) -> dict[str, str]:
    """For each rare tag, a more frequent one that it misspells or abbreviates."""
    tags_by_variant: dict[str, list[str]] = {}
    for tag in totals:
        for variant in _deletion_variants(tag):
            tags_by_variant.setdefault(variant, []).append(tag)
    misses: dict[str, str] = {}
    for tag in totals:
        candidates = {
            candidate
            for variant in _deletion_variants(tag)
            for candidate in tags_by_variant[variant][:_TAGS_PER_VARIANT]
        }
        candidates |= {tag[:end] for end in range(4, len(tag) - 1)} & totals.keys()
        for candidate in sorted(candidates - {tag}):
            rare, usual = sorted((tag, candidate), key=lambda each: (totals[each], each))
            if _is_variant(rare, usual) and (totals[rare] < 3 or totals[rare] * 3 <= totals[usual]):
                misses[rare] = usual
    # Never suggest a tag that is to be replaced itself.
    return {tag: usual for tag, usual in misses.items() if usual not in misses}


def _deletion_variants(tag: str) -> set[str]:
    """The tag, and the tag without any one of its letters.

    Two tags that are one letter apart, or have two letters swapped, share a variant. Looking them
    up is linear; comparing all pairs of tags is not.
    """
    if len(tag) < _SHORTEST or len(tag) > _LONGEST:
        return set()
    return {tag, *(tag[:index] + tag[index + 1 :] for index in range(len(tag)))}


def _is_variant(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    if _digits(short) != _digits(long):  # `level-1` and `level-2`
        return False
    if long.startswith(short) and len(long) > len(short) + 1:
        return "-" not in long[len(short) :]  # `return` and `return-label` are two tags
    return _is_typo(short, long)


def _is_typo(short: str, long: str) -> bool:
    """Is one letter added or replaced, or are two neighbors swapped?"""
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
