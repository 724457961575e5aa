"""Find personal data and secrets in a text. `lint`, masking and the `pii_leak` metric all use this.

The whole text is searched, in time linear in its length. A number counts only if it is written in
the usual form and its checksum is valid, so that order numbers are not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from typing import NamedTuple

from carob.text.sensitive.match import KINDS, SensitiveKind, SensitiveMatch
from carob.text.sensitive.numbers import cards, ibans, national_ids
from carob.text.sensitive.people import emails, phones
from carob.text.sensitive.secrets import secrets

__all__ = [
    "KINDS",
    "SensitiveKind",
    "SensitiveMatch",
    "find_sensitive",
    "installed_kinds",
    "missing_packages",
]


class _Finder(NamedTuple):
    find: Callable[[str, str | None], Iterator[SensitiveMatch]]
    """Takes the text and the region of national phone numbers."""
    package: str | None


def _anywhere(
    find: Callable[[str], Iterator[SensitiveMatch]],
) -> Callable[[str, str | None], Iterator[SensitiveMatch]]:
    return lambda text, _region: find(text)


_FINDERS: dict[SensitiveKind, _Finder] = {
    "email": _Finder(_anywhere(emails), None),
    "phone": _Finder(phones, "phonenumbers"),
    "card": _Finder(_anywhere(cards), "stdnum"),
    "iban": _Finder(_anywhere(ibans), "stdnum"),
    "national-id": _Finder(_anywhere(national_ids), "stdnum"),
    "secret": _Finder(_anywhere(secrets), "detect_secrets"),
}


def missing_packages() -> dict[SensitiveKind, str]:
    """Return the kinds that cannot be searched for, each with the package that is not installed."""
    packages: dict[SensitiveKind, str] = {}
    for kind, finder in _FINDERS.items():
        if finder.package and find_spec(finder.package) is None:
            packages[kind] = finder.package
    return packages


def installed_kinds() -> tuple[SensitiveKind, ...]:
    """Return the kinds whose packages are installed."""
    missing = missing_packages()
    return tuple(kind for kind in KINDS if kind not in missing)


def find_sensitive(
    text: str, kinds: Collection[SensitiveKind] = KINDS, region: str | None = None
) -> list[SensitiveMatch]:
    """Find matches of these kinds, in the order of the text. `region` is a country code, such as
    `DE`, in which phone numbers without one are valid.

    Of overlapping matches a secret wins, else the longest.
    """
    matches = [match for kind in kinds for match in _FINDERS[kind].find(text, region)]
    if len(matches) < 2:
        return matches
    result: list[SensitiveMatch] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if not result or match.start >= result[-1].end:
            result.append(match)
        elif _precedence(match) > _precedence(result[-1]):
            result[-1] = match
    return result


def _precedence(match: SensitiveMatch) -> tuple[bool, int]:
    return match.kind == "secret", len(match.text)
