"""Parse version numbers, bump them, and resolve version ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from semver import Version

from carob.errors import UsageError
from carob.schema.versions import Bump

_RANGE = re.compile(r"([\^~]?)(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?")


def parse_version(text: str) -> Version:
    """Parse a released version: three numbers without a suffix."""
    if re.fullmatch(r"v?\d{1,9}\.\d{1,9}\.\d{1,9}", text) and Version.is_valid(text.lstrip("v")):
        return Version.parse(text.lstrip("v"))
    raise UsageError(f"invalid version {text!r}, expected three numbers such as 1.2.0")


def bump_version(version: Version, bump: Bump) -> Version:
    """The next version after a bump."""
    if bump == "none":
        return version
    return version.next_version(bump)


def newest_in_range(requested: str, versions: Iterable[str]) -> str | None:
    """The newest version in a range: `1.2.0`, `1.2`, `^1.2`, `~1.2.3` or `latest`."""
    low, high = _bounds(requested)
    matching = [version for version in map(parse_version, versions) if low <= version < high]
    return str(max(matching)) if matching else None


def _bounds(requested: str) -> tuple[Version, Version]:
    """The lowest version in a range, and the lowest above the range."""
    if requested in ("", "latest", "*"):
        return Version(0), Version(10**9)
    match = _RANGE.fullmatch(requested.removeprefix("v"))
    if match is None:
        raise UsageError(
            f"invalid version {requested!r}",
            hint="expected a version such as 1.2.0, ^1, ~1.2 or latest",
        )
    sign, *texts = match.groups()
    parts = [int(text) for text in texts if text is not None]
    low = Version(*parts)
    return low, _upper_bound(low, _fixed_parts(sign, parts))


def _fixed_parts(sign: str, parts: list[int]) -> int:
    """How many numbers from the left are fixed."""
    if sign == "~":
        return min(len(parts), 2)
    if sign == "^":
        # Below 1.0.0 the first nonzero number marks breaking changes: ^0.2 does not allow 0.3.
        leading = [index for index, part in enumerate(parts) if part]
        return leading[0] + 1 if leading else len(parts)
    return len(parts)


def _upper_bound(low: Version, fixed: int) -> Version:
    parts = [low.major, low.minor, low.patch][:fixed]
    parts[-1] += 1
    return Version(*(part for part, _ in zip_longest(parts, range(3), fillvalue=0)))
