"""Version numbers: parse and bump them, resolve ranges, and choose the one of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from carob.errors import RefusedError, UsageError
from carob.schema import Bump, Change, Dataset, Diff, ReleaseCounts
from carob.versions.diff import is_lower
from carob.versions.equivalence import escape_unprintable

if TYPE_CHECKING:
    from semver import Version

_RANGE = re.compile(r"([\^~]?)(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?")
_SHOWN = 5
FIRST = "1.0.0"


def parse_version(text: str) -> Version:
    """Parse a released version: three numbers without a suffix."""
    from semver import Version  # late: it loads a command line of its own

    if re.fullmatch(r"v?\d{1,9}\.\d{1,9}\.\d{1,9}", text) and Version.is_valid(text.lstrip("v")):
        return Version.parse(text.lstrip("v"))
    raise UsageError(f"invalid version {text!r}, expected three numbers such as 1.2.0")


def _version(*parts: int) -> Version:
    from semver import Version  # late, as above

    return Version(*parts)


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
        return _version(0), _version(10**9)
    match = _RANGE.fullmatch(requested.removeprefix("v"))
    if match is None:
        raise UsageError(
            f"invalid version {requested!r}",
            hint="expected a version such as 1.2.0, ^1, ~1.2 or latest",
        )
    sign, *texts = match.groups()
    parts = [int(text) for text in texts if text is not None]
    low = _version(*parts)
    return low, _upper_bound(low, _count_fixed_parts(sign, parts))


def _count_fixed_parts(sign: str, parts: list[int]) -> int:
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
    return _version(*(part for part, _ in zip_longest(parts, range(3), fillvalue=0)))


def first_version(stated: str | None, *, version: str | None) -> str:
    """The version of a first release: the requested one, or the one in the file."""
    if version:
        return str(parse_version(version))
    try:
        return str(parse_version(stated or FIRST))
    except UsageError:
        return FIRST


def next_version(
    last: str,
    diff: Diff,
    *,
    stated: str | None,
    bump: Bump | None,
    version: str | None,
    because: str | None = None,
) -> str:
    """The version after `last`. Raises `RefusedError` if the requested one is too low for the
    changes and no reason is given."""
    before = parse_version(last)
    requested = _find_requested(before, stated, bump, version)
    if requested is None:
        if diff.bump == "none":
            raise _nothing_changed_error(last)
        requested = bump_version(before, diff.bump)
    elif requested <= before:
        raise _not_after_error(last, str(requested))
    if is_lower(_bump_between(before, requested), diff.bump):
        if not because:
            raise _too_low_error(before, requested, diff)
    elif because:
        raise unneeded_reason_error()
    return str(requested)


def describe_override(last: str, version: str, diff: Diff, because: str) -> str:
    """The changelog line of a version that is lower than the changes require."""
    bump = _bump_between(parse_version(last), parse_version(version))
    return f"Released as {bump}, although the changes are {diff.bump}: {because}"


def unneeded_reason_error() -> UsageError:
    """The error for a reason without a version that needs one."""
    return UsageError(
        "a reason is only for a version that is lower than the changes require",
        hint="omit --because, or use --note for the changelog",
    )


def count_cases(diff: Diff | None, dataset: Dataset) -> ReleaseCounts:
    """Count the cases, and those that changed."""
    if diff is None:
        return ReleaseCounts(before=0, after=len(dataset.cases), added=len(dataset.cases))
    whole = [change.kind for change in diff.changes if change.case and not change.field]
    changed = {change.case for change in diff.changes if change.case and change.field}
    return ReleaseCounts(
        before=diff.before,
        after=diff.after,
        added=whole.count("added"),
        changed=len(changed),
        removed=whole.count("removed"),
    )


def _find_requested(
    before: Version, stated: str | None, bump: Bump | None, version: str | None
) -> Version | None:
    """The requested version. A file requests one by stating a version above the last."""
    if version:
        return parse_version(version)
    if bump:
        return bump_version(before, bump)
    try:
        claimed = parse_version(stated) if stated else before
    except UsageError:
        return None
    return claimed if claimed > before else None


def _bump_between(before: Version, after: Version) -> Bump:
    """The bump between two versions."""
    if after.major > before.major:
        return "major"
    return "minor" if after.minor > before.minor else "patch"


def _nothing_changed_error(last: str) -> RefusedError:
    return RefusedError(
        f"nothing changed since {last}",
        hint="pass --bump patch to release the same data again, for another model or agent",
    )


def _not_after_error(last: str, requested: str) -> RefusedError:
    if requested == last:
        message, hint = f"version {last} is already released", "releases are immutable"
    else:
        message, hint = (
            f"version {requested} is lower than {last}, the last release",
            "pass a higher version, or omit --version",
        )
    return RefusedError(message, hint=hint)


def _too_low_error(before: Version, requested: Version, diff: Diff) -> RefusedError:
    reasons = list(_describe_changes(diff.changes, diff.bump))
    more = [f"and {len(reasons) - _SHOWN} more"] if len(reasons) > _SHOWN else []
    lines = "\n".join(f"  {reason}" for reason in [*reasons[:_SHOWN], *more])
    return RefusedError(
        f"version {requested} is too low: the changes since {before} are {diff.bump}\n{lines}",
        hint=f"release {bump_version(before, diff.bump)}; if results stay comparable, say why with"
        " --because",
    )


def _describe_changes(changes: Iterable[Change], level: Bump) -> Iterator[str]:
    for change in changes:
        if change.level == level:
            where = change.case or "the dataset"
            yield escape_unprintable(
                f"{where}: {change.field + ' ' if change.field else ''}{change.kind}"
            )
