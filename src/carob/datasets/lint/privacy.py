"""K101 to K107: personal data and secrets, anywhere in the document of a case.

A finding never tells what it found: only its first and last characters are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from carob.datasets.lint.check import WHOLE, Found, Item, Path, Place, texts
from carob.schema import Dataset, Json
from carob.text.sensitive import Kind, Piece, find, installed, missing

_RULES: dict[Kind, str] = {
    "email": "K101",
    "phone": "K102",
    "card": "K103",
    "iban": "K104",
    "national-id": "K105",
    "secret": "K106",
}
RESERVED = "K107"
_NAMES: dict[Kind, str] = {
    "email": "an email address",
    "phone": "a phone number",
    "card": "a card number",
    "iban": "a bank account number",
    "national-id": "a national id",
    "secret": "a secret",
}
_RESERVED = re.compile(r"(?:[@.]example\.(?:com|net|org)|\.(?:example|test|invalid|localhost))$")
_RESPONSIBLE = frozenset({"reviewed_by", "reviewedBy", "reviewer", "approved_by", "author"})
"""Who answers for a case is named on purpose."""


class Privacy:
    rules = (*_RULES.values(), RESERVED, "K001")

    def __init__(self) -> None:
        self._missing = missing()
        self._kinds = installed()

    def see(self, item: Item) -> Iterator[Found]:
        return self._search(item.doc, item.place)

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        frame = head.origin.doc if head.origin else None
        yield from self._search(frame, WHOLE)
        for package in dict.fromkeys(self._missing.values()):
            kinds = [_NAMES[kind] for kind, name in self._missing.items() if name == package]
            message = (
                f"not looked for: {', '.join(kinds)}; the package {package!r} is not installed"
            )
            yield Found("K001", WHOLE, message, 'pip install "carob[pii]"')

    def _search(self, doc: Json, place: Place) -> Iterator[Found]:
        for path, text in every_text(doc):
            for piece in find(text, self._kinds):
                if not is_allowed(piece, path):
                    yield _found(piece, path, place)


def every_text(doc: Json) -> Iterator[tuple[Path, str]]:
    """The texts of a document, and the names of its members, which are texts as well: these have
    the way to the object."""
    yield from texts(doc)
    yield from ((path, key) for path, key in _keys(doc, ()) if len(key) > 6)


def _keys(doc: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(doc, dict):
        for key, value in doc.items():
            yield path, key
            if isinstance(value, dict | list):
                yield from _keys(value, (*path, key))
    elif isinstance(doc, list):
        for index, value in enumerate(doc):
            if isinstance(value, dict | list):
                yield from _keys(value, (*path, index))


def rule_of(piece: Piece) -> str:
    """The rule against a piece."""
    reserved = piece.kind == "email" and _RESERVED.search(piece.same)
    return RESERVED if reserved else _RULES[piece.kind]


def is_allowed(piece: Piece, path: Path) -> bool:
    """Is the piece there on purpose?"""
    return piece.kind == "email" and bool(path) and path[-1] in _RESPONSIBLE


def _found(piece: Piece, path: Path, place: Place) -> Found:
    return Found(
        rule_of(piece),
        place,
        f"{_NAMES[piece.kind]}, {shortened(piece.text)!r}",
        "mask it with --fix",
        path,
        (piece.start, len(piece.text)),
    )


def shortened(text: str) -> str:
    """A text that is recognised by those who know it, and told to nobody else."""
    shown = 1 if len(text) < 12 else 2
    return f"{text[:shown]}…{text[-shown:]}"


@cache
def _searched() -> tuple[Kind, ...]:
    return installed()


def hidden(text: str) -> str:
    """A text in which everything that must not be told is shortened."""
    for piece in reversed(find(text, _searched())):
        text = text[: piece.start] + shortened(piece.text) + text[piece.end :]
    return text
