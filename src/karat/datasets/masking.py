"""Golden data without personal data and secrets: each is replaced by a word for what it was.

The same text gets the same word throughout a case, so that an argument still equals the message
that it was taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias, cast

import msgspec

from karat.errors import UsageError
from karat.schema import Case

_PIECE = 16_000
"""Characters that are searched at a time: finders read only the beginning of a long text."""
_OVERLAP = 500


class Finding(Protocol):
    """A piece of text that must not be told, and what it is."""

    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...


Find = Callable[[str], Iterable[Finding]]
Open: TypeAlias = (
    "bool | int | float | str | list[Open] | tuple[Open, ...] | dict[str, Open] | None"
)
"""A case taken apart: JSON, but with tuples in it."""


def masked(case: Case, find: Find) -> Case:
    """The case with everything that `find` finds replaced; its id and its lineage stay."""
    words: dict[str, str] = {}
    counts: dict[str, int] = {}
    try:
        for text in _texts(_open(case)):
            for finding in _findings(text, find):
                if finding.text not in words:
                    number = counts[finding.kind] = counts.get(finding.kind, 0) + 1
                    words[finding.text] = f"[{finding.kind} {number}]"
    except ImportError as error:
        raise UsageError(
            f"masking needs the package {error.name!r}", hint='pip install "karat[pii]"'
        ) from error
    if not words:
        return case
    # The longest first: a number may be a part of another one.
    order = sorted(words, key=len, reverse=True)
    kept: dict[str, object] = {"id": case.id, "metadata": case.metadata}
    document = {name: _replaced(value, order, words) for name, value in _open(case).items()}
    return msgspec.convert(kept | document, Case)


def _open(case: Case) -> dict[str, Open]:
    """What of a case tells of people."""
    document = cast("dict[str, Open]", msgspec.to_builtins(case))
    return {name: document[name] for name in document if name not in {"id", "metadata"}}


def _texts(value: Open) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _findings(text: str, find: Find) -> Iterator[Finding]:
    for start in range(0, len(text), _PIECE - _OVERLAP):
        yield from find(text[start : start + _PIECE])


def _replaced(value: Open, order: list[str], words: dict[str, str]) -> Open:
    if isinstance(value, str):
        for text in order:
            value = value.replace(text, words[text])
        return value
    if isinstance(value, list | tuple):
        return [_replaced(item, order, words) for item in value]
    if isinstance(value, dict):
        return {
            str(_replaced(key, order, words)): _replaced(item, order, words)
            for key, item in value.items()
        }
    return value
