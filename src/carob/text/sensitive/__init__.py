"""Personal data and secrets in a text, found by libraries that know their checksums.

The whole text is searched, in time that grows with its length. What is only probably personal is
left alone: a number counts if it is written as such a number is, and its checksum holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from typing import NamedTuple

from carob.text.sensitive.match import KINDS, Kind, Piece
from carob.text.sensitive.numbers import cards, ibans, national_ids
from carob.text.sensitive.people import emails, phones
from carob.text.sensitive.secrets import secrets

__all__ = ["KINDS", "Kind", "Piece", "find", "installed", "missing"]


class _Finder(NamedTuple):
    find: Callable[[str], Iterator[Piece]]
    package: str | None


_FINDERS: dict[Kind, _Finder] = {
    "email": _Finder(emails, None),
    "phone": _Finder(phones, "phonenumbers"),
    "card": _Finder(cards, "stdnum"),
    "iban": _Finder(ibans, "stdnum"),
    "national-id": _Finder(national_ids, "stdnum"),
    "secret": _Finder(secrets, "detect_secrets"),
}


def missing() -> dict[Kind, str]:
    """The kinds that cannot be looked for, each with the package that is not installed."""
    found: dict[Kind, str] = {}
    for kind, finder in _FINDERS.items():
        if finder.package and find_spec(finder.package) is None:
            found[kind] = finder.package
    return found


def installed() -> tuple[Kind, ...]:
    """The kinds that can be looked for."""
    lacking = missing()
    return tuple(kind for kind in KINDS if kind not in lacking)


def find(text: str, kinds: Collection[Kind] = KINDS) -> list[Piece]:
    """Pieces of these kinds, in the order of the text; of those that overlap, a secret or else the
    longest."""
    found = [piece for kind in kinds for piece in _FINDERS[kind].find(text)]
    if len(found) < 2:
        return found
    kept: list[Piece] = []
    for piece in sorted(found, key=lambda piece: (piece.start, -piece.end)):
        if not kept or piece.start >= kept[-1].end:
            kept.append(piece)
        elif _weight(piece) > _weight(kept[-1]):
            kept[-1] = piece
    return kept


def _weight(piece: Piece) -> tuple[bool, int]:
    return piece.kind == "secret", len(piece.text)
