"""Choose the version of a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from semver import Version

from carob.errors import RefusedError, UsageError
from carob.schema import Bump, Change, Dataset, Diff, ReleaseCounts
from carob.versions.diff import is_lower
from carob.versions.equivalence import printable
from carob.versions.numbers import bump_version, parse_version

_SHOWN = 5
FIRST = "1.0.0"


def first_version(stated: str | None, *, version: str | None) -> str:
    """The version of a first release: the requested one, or the one in the file."""
    if version:
        return str(parse_version(version))
    try:
        return str(parse_version(stated or FIRST))
    except UsageError:
        return FIRST


def next_version(
    last: str, diff: Diff, *, stated: str | None, bump: Bump | None, version: str | None
) -> str:
    """The version after `last`. Raises `RefusedError` if the requested one is too low for the
    changes."""
    before = parse_version(last)
    requested = _requested(before, stated, bump, version)
    if requested is None:
        if diff.bump == "none":
            raise _nothing_new(last)
        return str(bump_version(before, diff.bump))
    if requested <= before:
        raise _not_after(last, str(requested))
    if is_lower(_bump(before, requested), diff.bump):
        raise _too_low(before, requested, diff)
    return str(requested)


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


def _requested(
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


def _bump(before: Version, after: Version) -> Bump:
    """The bump between two versions."""
    if after.major > before.major:
        return "major"
    return "minor" if after.minor > before.minor else "patch"


def _nothing_new(last: str) -> RefusedError:
    return RefusedError(
        f"nothing changed since {last}",
        hint="pass --bump patch to release the same data again, for another model or agent",
    )


def _not_after(last: str, requested: str) -> RefusedError:
    if requested == last:
        message, hint = f"version {last} is already released", "releases are immutable"
    else:
        message, hint = (
            f"version {requested} is lower than {last}, the last release",
            "pass a higher version, or omit --version",
        )
    return RefusedError(message, hint=hint)


def _too_low(before: Version, requested: Version, diff: Diff) -> RefusedError:
    reasons = list(_reasons(diff.changes, diff.bump))
    more = [f"and {len(reasons) - _SHOWN} more"] if len(reasons) > _SHOWN else []
    lines = "\n".join(f"  {reason}" for reason in [*reasons[:_SHOWN], *more])
    return RefusedError(
        f"version {requested} is too low: the changes since {before} are {diff.bump}\n{lines}",
        hint=f"release {bump_version(before, diff.bump)}, or omit --version",
    )


def _reasons(changes: Iterable[Change], level: Bump) -> Iterator[str]:
    for change in changes:
        if change.level == level:
            where = change.case or "the dataset"
            yield printable(f"{where}: {change.field + ' ' if change.field else ''}{change.kind}")
