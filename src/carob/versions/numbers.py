"""Version numbers, and which of them a range means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from semver import Version

from carob.errors import UsageError
from carob.schema.diff import Bump

_RANGE = re.compile(r"([\^~]?)(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?")


def number(text: str) -> Version:
    """A released version: three numbers, nothing behind them."""
    if re.fullmatch(r"v?\d{1,9}\.\d{1,9}\.\d{1,9}", text) and Version.is_valid(text.lstrip("v")):
        return Version.parse(text.lstrip("v"))
    raise UsageError(f"found the version {text!r}, expected three numbers such as 1.2.0")


def bumped(version: Version, bump: Bump) -> Version:
    """The next version of a bump."""
    if bump == "none":
        return version
    return version.next_version(bump)


def newest(wanted: str, versions: Iterable[str]) -> str | None:
    """The newest version in a range: `1.2.0`, `1.2`, `^1.2`, `~1.2.3` or `latest`."""
    low, high = _bounds(wanted)
    found = [version for version in map(number, versions) if low <= version < high]
    return str(max(found)) if found else None


def _bounds(wanted: str) -> tuple[Version, Version]:
    """The lowest version that a range allows, and the lowest above it that it does not."""
    if wanted in ("", "latest", "*"):
        return Version(0), Version(10**9)
    match = _RANGE.fullmatch(wanted.removeprefix("v"))
    if match is None:
        raise UsageError(
            f"found the version {wanted!r}", hint="expected one such as 1.2.0, ^1, ~1.2 or latest"
        )
    sign, *texts = match.groups()
    parts = [int(text) for text in texts if text is not None]
    low = Version(*parts)
    return low, _after(low, _held(sign, parts))


def _held(sign: str, parts: list[int]) -> int:
    """How many numbers from the left must stay as they are."""
    if sign == "~":
        return min(len(parts), 2)
    if sign == "^":
        # Below 1.0.0 the first number that is not zero is the one that promises.
        leading = [index for index, part in enumerate(parts) if part]
        return leading[0] + 1 if leading else len(parts)
    return len(parts)


def _after(low: Version, held: int) -> Version:
    kept = [low.major, low.minor, low.patch][:held]
    kept[-1] += 1
    return Version(*(part for part, _ in zip_longest(kept, range(3), fillvalue=0)))
